package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// step is what a connection has done when it is broken off.
type step struct {
	place  string
	say    string // HOST is its name
	answer bool   // is read to the end of its head
	then   string // said after that
	shut   bool   // it ends its own side
	host   bool   // the host breaks off, not the client
}

const (
	toConnect = "CONNECT HOST:443 HTTP/1.1\r\n\r\n"
	toGet     = "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n"
	toPost    = "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 50\r\n\r\nhalf of it"
	toChunk   = "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhalf of it\r\n"
	toUpgrade = "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
	inTunnel  = "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n"
)

// phases of a connection, each in the ways in which it can be met. A place that
// is named is waited for, and what has asked for something must be reported.
var phases = []struct {
	name  string
	steps []step
}{
	{"before a byte", []step{{}}},
	{"in the head", []step{{say: "C"}, {say: "CONNECT HOST:443 HTTP/1.1\r\nHost"}}},
	{"while refused", []step{{place: "denied", say: strings.ReplaceAll(toConnect, "HOST", "HOST.denied")}}},
	{"while resolving", []step{{place: "lookup", say: toConnect}, {place: "lookup", say: toGet}, {place: "lookup", say: toUpgrade}, {place: "lookup", say: toConnect, shut: true}}},
	{"while dialling", []step{
		{place: "dial", say: toConnect},
		{place: "dial", say: toConnect + "early"},
		{place: "dial", say: toConnect + "early", shut: true},
		{place: "dial", say: toGet},
		{place: "dial", say: toGet + toGet},
		{place: "dial", say: toPost},
		{place: "dial", say: toUpgrade},
	}},
	{"after the 200", []step{{say: toConnect, answer: true}, {say: toConnect, answer: true, then: "\x16\x03\x01\x02\x00\x01"}}},
	{"in the tunnel", []step{{place: "tunnel", say: toConnect, answer: true, then: inTunnel}, {place: "tunnel", say: toConnect + inTunnel, answer: true}}},
	{"in the tunnel, by the host", []step{{place: "reset", say: toConnect, answer: true, then: inTunnel, host: true}}},
	{"half-closed", []step{
		{place: "end", say: toConnect, answer: true, then: inTunnel, shut: true},
		{place: "half", say: toConnect, answer: true, then: inTunnel},
		{place: "stay", say: toConnect, answer: true, then: inTunnel, shut: true},
	}},
	{"in the request", []step{{place: "body", say: toPost}, {place: "body", say: toChunk}}},
	{"before the answer", []step{{place: "request", say: toGet}, {place: "request", say: toGet, shut: true}, {place: "request", say: toGet + toGet}, {place: "request", say: toUpgrade}}},
	{"in the answer", []step{{place: "answer", say: toGet, answer: true}, {place: "answer", say: toPost, answer: true}, {place: "answer", say: toUpgrade, answer: true}}},
}

const breakTime = time.Minute

// breakOff is one client.
func (b *breaking) breakOff(s step) error {
	x := &broken{number: b.begun.Add(1), place: s.place, reached: make(chan struct{}), over: make(chan struct{})}
	b.all.Store(x.number, x)
	defer b.all.Delete(x.number)
	conn, err := b.dialer.Dial("tcp", b.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	c := conn.(*net.TCPConn)
	c.SetLinger(0)
	c.SetDeadline(time.Now().Add(breakTime))
	if err := s.play(c, fmt.Sprintf("%d.allowed.test", x.number)); err != nil {
		return err
	}
	if s.place != "" && s.place != "reset" && s.place != "denied" {
		if err := await(x.reached); err != nil {
			return fmt.Errorf("it does not get to %q: %w", s.place, err)
		}
	}
	if !s.host {
		c.Close()
	}
	if s.place == "" && !s.answer {
		return nil
	}
	if err := await(x.over); err != nil {
		return fmt.Errorf("it is not reported: %w", err)
	}
	if n := x.reports.Load(); n != 1 {
		return fmt.Errorf("it is reported %d times", n)
	}
	return nil
}

func (s step) play(c *net.TCPConn, name string) error {
	if _, err := io.WriteString(c, strings.ReplaceAll(s.say, "HOST", name)); err != nil {
		return err
	}
	if s.answer {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return err
		}
		if resp.StatusCode != 200 {
			return fmt.Errorf("answered %s", resp.Status)
		}
	}
	if _, err := io.WriteString(c, strings.ReplaceAll(s.then, "HOST", name)); err != nil {
		return err
	}
	if s.shut {
		return c.CloseWrite()
	}
	return nil
}

func await(c <-chan struct{}) error {
	t := time.NewTimer(breakTime)
	defer t.Stop()
	select {
	case <-c:
		return nil
	case <-t.C:
		return fmt.Errorf("nothing in %s", breakTime)
	}
}

// round breaks off n connections in a phase, many at once.
func (b *breaking) round(steps []step, n int64) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			for i := next.Add(1); i <= n && failed.Load() == nil; i = next.Add(1) {
				s := steps[i%int64(len(steps))]
				if err := b.breakOff(s); err != nil {
					err = fmt.Errorf("%+v: %w", s, err)
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// held are what a connection that is over must not hold any longer. Workers that
// rest are few, and wait for the next one.
func (b *breaking) held(t *testing.T) [3]int {
	b.proxy.mu.Lock()
	defer b.proxy.mu.Unlock()
	idle := int(b.proxy.idle.Load())
	return [3]int{runtime.NumGoroutine() - min(idle, resting), openFiles(t), len(b.proxy.clients)}
}

// brokenEach is how many connections each phase breaks off: so many that one
// in a thousand that kept something would show, in some seconds. The variable
// asks for more.
func brokenEach(t *testing.T) int64 {
	text := os.Getenv("KERNEL_LAUNCH_TEST_CONNECTIONS")
	if text == "" {
		return 2_000
	}
	n, err := strconv.ParseInt(text, 10, 32)
	require.NoError(t, err)
	return n
}

// Connections that are broken off leave nothing behind, whatever they had come
// to, and each that asked for something is reported once.
func TestBrokenConnectionsLeaveNothing(t *testing.T) {
	audit := &Audit{Path: filepath.Join(t.TempDir(), "log")}
	b := newBreaking(t, audit.Record)
	each := brokenEach(t)
	require.NoError(t, b.round(phases[len(phases)-1].steps, 3)) // everything has begun by then
	before := b.held(t)
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		now := b.held(t)
		before = [3]int{min(before[0], now[0]), min(before[1], now[1])}
	}
	for _, p := range phases {
		begin, from := time.Now(), b.events.Load()
		require.NoError(t, b.round(p.steps, each), p.name)
		t.Logf("%s: %d, %d reported, in %s", p.name, each, b.events.Load()-from, time.Since(begin).Round(time.Millisecond))
	}
	require.NoError(t, audit.Close())
	before[1]-- // the log
	after := b.held(t)
	more := func() bool { return after[0] > before[0] || after[1] > before[1] || after[2] > 0 }
	for end := time.Now().Add(breakTime); more() && time.Now().Before(end); after = b.held(t) {
		time.Sleep(5 * time.Millisecond)
	}
	assert.False(t, more(), "goroutines, descriptors, connections: %v before, %v after", before, after)
	logged := 0
	require.NoError(t, (&LogReader{Path: audit.Path}).Read(func(e Entry) { logged += max(1, e.Repeated) }))
	assert.Equal(t, int(b.events.Load()), logged)
	assert.Equal(t, len(phases)-2, logged/int(each), "the first two ask for nothing")
}
