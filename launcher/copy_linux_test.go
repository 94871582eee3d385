package launcher

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// joined is two ends of a connection.
func joined(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	a, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	b, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func TestCarryingOverWaitsForWhoeverReads(t *testing.T) {
	client, from := joined(t)
	to, kernel := joined(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	go func() { client.Write(sent); client.Close() }()
	type end struct {
		n   int64
		err error
	}
	ended := make(chan end, 1)
	go func() {
		n, err := carryOver(to, from, make([]byte, 32<<10))
		to.Close()
		ended <- end{n, err}
	}()
	select {
	case <-ended:
		t.Fatal("16 MiB lie in nobody's buffers")
	case <-time.After(100 * time.Millisecond):
	}
	got, err := io.ReadAll(kernel)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(sent, got))
	assert.Equal(t, end{int64(len(sent)), nil}, <-ended)
}

func TestCarryingOverSaysWhichSideBroke(t *testing.T) {
	for _, op := range []string{"read", "write"} {
		client, from := joined(t)
		to, kernel := joined(t)
		broken := map[string]net.Conn{"read": client, "write": kernel}[op]
		require.NoError(t, broken.(*net.TCPConn).SetLinger(0))
		require.NoError(t, broken.Close()) // by a reset
		if op == "write" {
			go func() {
				for _, err := client.Write([]byte("x")); err == nil; _, err = client.Write([]byte("x")) {
				}
			}()
		}
		_, err := carryOver(to, from, make([]byte, 8))
		var fault *net.OpError
		require.ErrorAs(t, err, &fault)
		assert.Equal(t, op, fault.Op)
		client.Close()
	}
}

func TestCarryingOverEndsWithItsConnections(t *testing.T) {
	_, from := joined(t)
	to, _ := joined(t)
	ended := make(chan error, 1)
	go func() {
		_, err := carryOver(to, from, make([]byte, 8))
		ended <- err
	}()
	from.Close()
	assert.True(t, errors.Is(<-ended, net.ErrClosed))
}

// Whether a socket waits is said once for all who hold it, and the inside may hold the one that it has handed out. A call that waits where Go does not know
// of it would hold up every collection, and with that the whole launcher.
func TestCarryingOverDoesNotWaitForASocketThatWasMadeToWait(t *testing.T) {
	client, from := joined(t)
	to, kernel := joined(t)
	held, err := from.(*net.TCPConn).File()
	require.NoError(t, err)
	defer held.Close()
	require.NoError(t, unix.SetNonblock(int(held.Fd()), false))
	ended := make(chan error, 1)
	go func() {
		_, err := carryOver(to, from, make([]byte, 8))
		ended <- err
	}()
	time.Sleep(50 * time.Millisecond) // it reads by now
	collected := make(chan struct{})
	go func() { runtime.GC(); close(collected) }()
	select {
	case <-collected:
	case <-time.After(10 * time.Second):
		client.Close() // lets the call return
		t.Fatal("nothing was collected while it waited")
	}
	_, err = client.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(kernel, make([]byte, 1))
	require.NoError(t, err)
	client.Close()
	require.NoError(t, <-ended)
}
