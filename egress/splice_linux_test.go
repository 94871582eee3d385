package egress

import (
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// More tunnels at once than there are pipes carry everything, and no pipe is
// lost or kept by one that has ended or that nobody reads from.
func TestPipesAreFewAndComeBack(t *testing.T) {
	const tunnels, size = 2 * pipesMost, 4 << 20
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) { io.CopyN(c, zeros{}, size) })))
	before := openFiles(t)
	var wg sync.WaitGroup
	var calls []*call
	for range tunnels {
		calls = append(calls, w.call(connectAllowed).opened())
	}
	for i, c := range calls {
		wg.Go(func() {
			if i%4 == 3 { // leaves in the middle
				io.CopyN(io.Discard, c.r, size/2)
				c.SetLinger(0)
				c.Close()
				return
			}
			n, err := io.Copy(io.Discard, c.r)
			assert.NoError(t, err)
			assert.Equal(t, int64(size), n)
			c.Close()
		})
	}
	wg.Wait()
	require.Eventually(t, func() bool { return len(pipesOut) == 0 }, 5*time.Second, 5*time.Millisecond)
	require.Eventually(t, func() bool { return openFiles(t) <= before+2*pipesKept }, 5*time.Second, 5*time.Millisecond)
}

func TestAnIdleTunnelHoldsNoPipe(t *testing.T) {
	more := make(chan struct{})
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		io.CopyN(c, zeros{}, 3*spliceAfter)
		<-more
		io.CopyN(c, zeros{}, 3*spliceAfter)
	})))
	c := w.call(connectAllowed).opened()
	_, err := io.CopyN(io.Discard, c.r, 3*spliceAfter)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(pipesOut) == 0 }, 5*time.Second, time.Millisecond)
	close(more)
	n, err := io.Copy(io.Discard, c.r)
	require.NoError(t, err)
	assert.Equal(t, int64(3*spliceAfter), n)
}

func TestWithoutPipesBytesAreCopied(t *testing.T) {
	for range pipesMost {
		pipesOut <- struct{}{}
	}
	defer func() {
		for range pipesMost {
			<-pipesOut
		}
	}()
	const size = 8 << 20
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) { io.CopyN(c, zeros{}, size) })))
	n, err := io.Copy(io.Discard, w.call(connectAllowed).opened().r)
	require.NoError(t, err)
	assert.Equal(t, int64(size), n)
}

// An ordinary user gets small pipes once he has many; these are no use. Root is
// not limited.
func TestASmallPipeIsNotUsed(t *testing.T) {
	for range 128 {
		p := newPipe()
		if p == nil {
			require.NotZero(t, os.Geteuid(), "root has no limit")
			return
		}
		t.Cleanup(func() { unix.Close(p.r); unix.Close(p.w) })
		size, err := unix.FcntlInt(uintptr(p.r), unix.F_GETPIPE_SZ, 0)
		require.NoError(t, err)
		require.GreaterOrEqual(t, size, pipeLeast)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
