package launcher

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
