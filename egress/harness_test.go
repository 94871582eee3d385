package egress

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// world is a real proxy on loopback, whose resolver is scripted and counted
// and whose dialler counts and leads every address to one real origin.
type world struct {
	t      *testing.T
	proxy  *Proxy
	addr   string
	origin string
	wrap   func(net.Listener) net.Listener // nil: the listener as it is

	mu      sync.Mutex
	rules   *Rules
	answers map[string][]netip.Addr // by name with the final dot; others get publicAddr
	looked  []string
	dialled []string
	events  []Event
	seen    []*http.Request
	bodies  []string
}

var publicAddr = netip.MustParseAddr("192.0.2.80")

func mustRules(allow ...string) *Rules {
	r := &Rules{}
	for _, s := range allow {
		rule, err := ParseRule(s)
		if err != nil {
			panic(err)
		}
		r.Allow = append(r.Allow, rule)
	}
	return r
}

// newWorld allows allowed.test and what is below it.
func newWorld(t *testing.T, adjust ...func(*world)) *world {
	w := &world{t: t, rules: mustRules(".allowed.test"), answers: map[string][]netip.Addr{}}
	w.proxy = &Proxy{Rules: w.read, Resolver: w, Dial: w.dial, Event: w.event}
	for _, a := range adjust {
		a(w)
	}
	if w.origin == "" {
		s := httptest.NewUnstartedServer(http.HandlerFunc(w.serve))
		s.Config.DisableGeneralOptionsHandler = true
		s.Start()
		t.Cleanup(s.Close)
		w.origin = s.Listener.Addr().String()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w.addr = l.Addr().String()
	if w.wrap != nil {
		l = w.wrap(l)
	}
	served := make(chan error, 1)
	go func() { served <- w.proxy.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, w.proxy.Close())
		if err := <-served; !errors.Is(err, ErrClosed) { // a short test may close before it serves
			require.NoError(t, err)
		}
	})
	return w
}

func (w *world) read() (*Rules, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rules, nil
}

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = append(w.looked, host)
	if a, ok := w.answers[host]; ok {
		if len(a) == 0 {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		return a, nil
	}
	return []netip.Addr{publicAddr}, nil
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, address)
	w.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, "tcp", w.origin)
}

func (w *world) event(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	w.seen = append(w.seen, r)
	w.bodies = append(w.bodies, string(body))
	w.mu.Unlock()
	io.WriteString(rw, "origin answers "+r.RequestURI)
}

func (w *world) counts() (looked, dialled, seen int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.looked), len(w.dialled), len(w.seen)
}

func (w *world) reported() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.events)
}

// waitEvent waits for the nth event.
func (w *world) waitEvent(n int) Event {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.events) > n
	}, 5*time.Second, 2*time.Millisecond, "no event")
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events[n]
}

// call is one client connection.
type call struct {
	*net.TCPConn
	t *testing.T
	r *bufio.Reader
}

func (w *world) call(raw string) *call {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	c := &call{conn.(*net.TCPConn), w.t, bufio.NewReader(conn)}
	c.send(raw)
	return c
}

func (c *call) send(raw string) {
	_, err := io.WriteString(c, raw)
	require.NoError(c.t, err)
}

// answer reads one response; the body is read too.
func (c *call) answer() (*http.Response, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.r, nil)
	require.NoError(c.t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp, string(body)
}

// opened reads the answer to a CONNECT that has to succeed.
func (c *call) opened() *call {
	c.t.Helper()
	line, err := c.r.ReadString('\n')
	require.NoError(c.t, err)
	require.Equal(c.t, "HTTP/1.1 200 Connection established\r\n", line)
	_, err = c.r.ReadString('\n')
	require.NoError(c.t, err)
	return c
}

// listen gives a raw TCP origin whose connections go to handle.
func listen(t *testing.T, handle func(*net.TCPConn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { defer conn.Close(); handle(conn.(*net.TCPConn)) })
		}
	})
	return l.Addr().String()
}

const connectAllowed = "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n"
