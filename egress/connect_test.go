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
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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

// A client that ends its side first still gets the whole answer, and an
// origin that ends first still gets the rest.
func TestHalfCloseIsKeptBothWays(t *testing.T) {
	answer := randomBytes(200_006)
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		io.ReadAll(c)
		c.Write(answer)
	})))
	c := w.call(connectAllowed).opened()
	c.send("question")
	c.CloseWrite()
	all, err := io.ReadAll(c.r)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(answer, all))

	got := make(chan string, 1)
	w = newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		io.WriteString(c, "bye")
		c.CloseWrite()
		all, _ := io.ReadAll(c)
		got <- string(all)
	})))
	c = w.call(connectAllowed).opened()
	all, err = io.ReadAll(c.r)
	require.NoError(t, err)
	assert.Equal(t, "bye", string(all))
	c.send("and then some")
	c.CloseWrite()
	assert.Equal(t, "and then some", <-got)
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

// hanging makes every dial wait until it is cancelled, and tells of both.
func hanging(begun, ended chan struct{}) func(*world) {
	return func(w *world) {
		w.proxy.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			begun <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
			return nil, ctx.Err()
		}
	}
}

func reset(c *call) {
	c.SetLinger(0)
	c.Close()
}

func TestClientThatLeavesEndsTheDial(t *testing.T) {
	plainGet := "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n"
	plainPost := "POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 5\r\n\r\nHELLO"
	upgrade := "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
	for name, run := range map[string]struct {
		raw   string
		leave func(*call)
	}{
		"reset":                    {connectAllowed, reset},
		"reset after early bytes":  {connectAllowed + "EARLY", reset},
		"end without a byte":       {connectAllowed, func(c *call) { c.CloseWrite() }},
		"reset of a plain request": {plainGet, reset},
		"reset of an upload":       {plainPost, reset},
		"reset of an upgrade":      {upgrade, reset},
	} {
		t.Run(name, func(t *testing.T) {
			begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			w := newWorld(t, hanging(begun, ended))
			c := w.call(run.raw)
			<-begun
			start := time.Now()
			run.leave(c)
			<-ended
			assert.Less(t, time.Since(start), time.Second)
			assert.Equal(t, CodeClientLeft, w.waitEvent(0).Code)
		})
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
		assert.GreaterOrEqual(t, e.Dial, 50*time.Millisecond)
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

// While a host is dialled a client cannot make the proxy hold more than a
// little.
func TestEarlyFloodStalls(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	w := newWorld(t, hanging(begun, ended), func(w *world) { w.proxy.Bounds.Dial = 2 * time.Second })
	c := w.call(connectAllowed)
	<-begun
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
	sent := 0
	chunk := make([]byte, 1<<20)
	for sent < 256<<20 {
		n, err := c.Write(chunk)
		sent += n
		if err != nil {
			assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
			break
		}
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, sent, 64<<20, "the sender has to stall")
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(2<<20))
	<-ended
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

// A thousand clients that break off in every phase leave nothing behind.
func TestAbortedConnectionsLeaveNothing(t *testing.T) {
	var begun atomic.Int64
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		io.Copy(struct{ io.Writer }{c}, onlyReader{c}) // plainly: spliced, the origin would keep pipes
	})))
	inner := w.proxy.Dial
	w.proxy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if begun.Add(1)%2 == 0 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return inner(ctx, network, address)
	}
	phases := []string{
		"", "CONNECT allo", connectAllowed, connectAllowed + "EARLY", "CONNECT evil.test:443 HTTP/1.1\r\n\r\n", "\x05",
		"GET http://allowed.test/ HTTP/1.1\r\nHost: x\r\n\r\n", "POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
	}
	round := func() {
		var wg sync.WaitGroup
		for i := range 125 {
			for j, raw := range phases {
				wg.Go(func() {
					c, err := net.Dial("tcp", w.addr)
					if err != nil {
						return
					}
					io.WriteString(c, raw)
					if (i+j)%3 == 0 {
						c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
						io.Copy(io.Discard, c)
					}
					c.(*net.TCPConn).SetLinger(0)
					c.Close()
				})
			}
			if i%10 == 0 {
				wg.Wait()
			}
		}
		wg.Wait()
	}
	settle := func() (int, int) {
		require.Eventually(t, func() bool { w.proxy.mu.Lock(); defer w.proxy.mu.Unlock(); return w.proxy.open == 0 }, 15*time.Second, 10*time.Millisecond)
		time.Sleep(200 * time.Millisecond) // what the runtime and the origin still close
		return runtime.NumGoroutine(), openFiles(t)
	}
	goroutines, files := settle()
	round()
	g, f := settle()
	assert.LessOrEqual(t, g, goroutines+2)
	assert.LessOrEqual(t, f, files+2)
	assert.Greater(t, begun.Load(), int64(100), "dials did happen")
}
