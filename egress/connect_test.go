package egress

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8(sha256.Sum256([]byte("egress"))).Read(b)
	return b
}

func withOrigin(addr string) func(*world) { return func(w *world) { w.origin = addr } }

func TestEightMegabytesBothWays(t *testing.T) {
	down, up := randomBytes(8<<20), randomBytes(8 << 20)[1:]
	got := make(chan []byte, 1)
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		var wg sync.WaitGroup
		wg.Go(func() { c.Write(down); c.CloseWrite() })
		all, _ := io.ReadAll(c)
		wg.Wait()
		got <- all
	})))
	c := w.call(connectAllowed).opened()
	var wg sync.WaitGroup
	wg.Go(func() { c.Write(up); c.CloseWrite() })
	all, err := io.ReadAll(c.r)
	wg.Wait()
	require.NoError(t, err)
	assert.True(t, bytes.Equal(down, all))
	assert.True(t, bytes.Equal(up, <-got))
	e := w.waitEvent(0)
	assert.Equal(t, int64(len(up)), e.Sent)
	assert.Equal(t, int64(len(down)), e.Received)
	assert.Equal(t, EndClosed, e.End)
	assert.Equal(t, CodeAllowed, e.Code)
	assert.Equal(t, []string{"192.0.2.80"}, []string{e.Addresses[0].String()})
}

// What is sent behind the head, and while the host is dialled, arrives once.
func TestEarlyBytesArriveOnce(t *testing.T) {
	for _, pieces := range [][]string{{"EARLYDATA"}, {"EAR", "LY", "DATA"}, {""}, {strings.Repeat("x", 100_000)}} {
		got := make(chan string, 1)
		hold := make(chan struct{})
		w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
			all, _ := io.ReadAll(c)
			got <- string(all)
		})))
		inner := w.proxy.Dial
		w.proxy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			<-hold
			return inner(ctx, network, address)
		}
		c := w.call(connectAllowed + pieces[0])
		for _, p := range pieces[1:] {
			require.Eventually(t, func() bool { _, d, _ := w.counts(); return d == 0 }, time.Second, time.Millisecond)
			c.send(p)
		}
		close(hold)
		c.opened().send("LATER")
		c.CloseWrite()
		assert.Equal(t, strings.Join(pieces, "")+"LATER", <-got)
		_, dialled, _ := w.counts()
		assert.Equal(t, 1, dialled)
	}
}

func TestHangingDialTimesOut(t *testing.T) {
	begun, ended := make(chan struct{}, 9), make(chan struct{}, 9)
	for _, raw := range []string{connectAllowed, "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n"} {
		w := newWorld(t, hanging(begun, ended), func(w *world) { w.proxy.Bounds.Dial = 50 * time.Millisecond })
		resp, _ := w.call(raw).answer()
		assert.Equal(t, 504, resp.StatusCode)
		assert.Contains(t, resp.Status, "allowed.test")
		e := w.waitEvent(0)
		assert.Equal(t, CodeDialTimeout, e.Code)
		assert.Equal(t, EndFailed, e.End)
		assert.Positive(t, e.Dial) // the bound holds for look-up and dial together
	}
}

func TestFailedDialSaysWhy(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.proxy.Dial = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errRefused)}
		}
	})
	resp, body := w.call(connectAllowed).answer()
	assert.Equal(t, "502 connecting to allowed.test:443 failed: connection refused", resp.Status)
	assert.Contains(t, body, `"code":"dial-failed"`)
}

func TestIdleTunnelEnds(t *testing.T) {
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) })), func(w *world) { w.proxy.Bounds.Idle = 120 * time.Millisecond })
	start := time.Now()
	c := w.call(connectAllowed).opened()
	for range 4 { // bytes keep it open beyond its idle time
		time.Sleep(60 * time.Millisecond)
		c.send("x")
	}
	_, err := c.r.ReadByte()
	assert.Error(t, err)
	assert.Greater(t, time.Since(start), 300*time.Millisecond)
	assert.Equal(t, EndIdle, w.waitEvent(0).End)
}

func TestCloseEndsTunnelsAndRefusesMore(t *testing.T) {
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) })))
	c := w.call(connectAllowed).opened()
	require.NoError(t, w.proxy.Close())
	_, err := c.r.ReadByte()
	assert.Error(t, err)
	assert.Equal(t, EndStopped, w.waitEvent(0).End)
	_, err = net.Dial("tcp", w.addr)
	assert.Error(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	assert.ErrorIs(t, w.proxy.Serve(l), ErrClosed)
}

// stuck is a listener whose Close and Accept never return.
type stuck struct {
	net.Listener
	release chan struct{}
}

func (s stuck) Accept() (net.Conn, error) { <-s.release; return nil, errors.New("released") }
func (s stuck) Close() error              { <-s.release; return nil }
func (s stuck) Addr() net.Addr            { return &net.TCPAddr{} }

func TestCloseDoesNotWaitForAStuckListener(t *testing.T) {
	p := &Proxy{}
	l := stuck{release: make(chan struct{})}
	defer close(l.release)
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	require.Eventually(t, func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.listeners) == 1 }, time.Second, time.Millisecond)
	start := time.Now()
	require.NoError(t, p.Close())
	require.NoError(t, <-served)
	assert.Less(t, time.Since(start), time.Second)
}

func TestConnectionBound(t *testing.T) {
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) })), func(w *world) { w.proxy.Bounds.Connections = 2 })
	a, b := w.call(connectAllowed).opened(), w.call(connectAllowed).opened()
	resp, _ := w.call(connectAllowed).answer()
	assert.Equal(t, 503, resp.StatusCode)
	assert.Equal(t, "1", resp.Header.Get("Retry-After"))
	a.Close()
	b.Close()
	w.waitEvent(2)
	w.call(connectAllowed).opened()
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/dev/fd")
	require.NoError(t, err)
	return len(list)
}
