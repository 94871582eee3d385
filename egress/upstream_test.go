package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const proxyPassword = "pr0xyp4ss"

// front is a real proxy that leads every tunnel and every plain request to one
// origin, and notes what it was asked.
type front struct {
	url    *url.URL
	origin string
	answer string // instead of serving

	mu     sync.Mutex
	asked  []string
	logins []string
	hosts  []string
}

func newFront(t *testing.T, origin string) *front {
	f := &front{origin: origin}
	f.url = &url.URL{Scheme: "http", User: url.UserPassword("worker", proxyPassword), Host: listen(t, f.serve)}
	return f
}

func (f *front) serve(conn *net.TCPConn) {
	r := bufio.NewReader(conn)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	f.mu.Lock()
	f.asked = append(f.asked, req.Method+" "+req.RequestURI)
	f.logins = append(f.logins, req.Header.Get("Proxy-Authorization"))
	f.hosts = append(f.hosts, req.Host)
	answer := f.answer
	f.mu.Unlock()
	if answer != "" {
		io.WriteString(conn, answer)
		return
	}
	up, err := net.Dial("tcp", f.origin)
	if err != nil {
		return
	}
	defer up.Close()
	if req.Method == http.MethodConnect {
		io.WriteString(conn, "HTTP/1.1 200 Tunnel\r\nX-Proxy: 1\r\n\r\n")
	} else {
		req.Header.Del("Proxy-Authorization")
		req.Write(up)
	}
	var wg sync.WaitGroup
	wg.Go(func() { io.Copy(up, r); up.(*net.TCPConn).CloseWrite() })
	io.Copy(conn, up)
	conn.CloseWrite()
	wg.Wait()
}

func (f *front) seen() (asked, logins []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked, f.logins
}

// behind is a world whose way out leads through a proxy in front.
func behind(t *testing.T, adjust ...func(*world)) (*world, *front) {
	f := &front{}
	w := newWorld(t, append([]func(*world){func(w *world) {
		w.proxy.Upstream = func(Target) (*url.URL, error) { return f.url, nil }
	}}, adjust...)...)
	f.origin = w.origin
	f.url = &url.URL{Scheme: "http", User: url.UserPassword("worker", proxyPassword), Host: listen(t, f.serve)}
	return w, f
}

var basicLogin = "Basic " + base64.StdEncoding.EncodeToString([]byte("worker:"+proxyPassword))

func TestATunnelGoesThroughTheProxyInFront(t *testing.T) {
	w, f := behind(t, withOrigin(listen(t, func(c *net.TCPConn) {
		b, _ := io.ReadAll(c) // ends only with the client's own end
		fmt.Fprintf(c, "got %s", b)
	})))
	c := w.call(connectAllowed + "early ").opened()
	c.send("late")
	require.NoError(t, c.CloseWrite())
	b, err := io.ReadAll(c.r)
	require.NoError(t, err)
	assert.Equal(t, "got early late", string(b))
	asked, logins := f.seen()
	assert.Equal(t, []string{"CONNECT allowed.test:443"}, asked, "the name, not the address")
	assert.Equal(t, []string{basicLogin}, logins)
	e := w.waitEvent(0)
	assert.Equal(t, f.url.Host, e.Via)
	assert.Equal(t, []netip.Addr{publicAddr}, e.Addresses, "what this host knows of it")
	assert.Equal(t, EndClosed, e.End)
	assert.Empty(t, w.dialled, "nothing went past it")
}

func TestAHostThatSpeaksFirstThroughTheProxyInFront(t *testing.T) {
	w, f := behind(t)
	f.answer = "HTTP/1.1 200 OK\r\n\r\nSSH-2.0-server\r\n"
	c := w.call("CONNECT allowed.test:443 HTTP/1.1\r\n\r\n").opened()
	b, err := io.ReadAll(c.r)
	require.NoError(t, err)
	assert.Equal(t, "SSH-2.0-server\r\n", string(b))
}

func TestAPlainRequestGoesToTheProxyInFrontInAbsoluteForm(t *testing.T) {
	w, f := behind(t)
	resp, body := w.call(fetch("http://www.allowed.test/a//b?q=%2f", "Proxy-Authorization: Basic ZHVtbXk=\r\n")).answer()
	assert.Equal(t, 200, resp.StatusCode, body)
	asked, logins := f.seen()
	assert.Equal(t, []string{"GET http://www.allowed.test/a//b?q=%2f"}, asked)
	assert.Equal(t, []string{basicLogin}, logins, "the operator's, not the client's")
	assert.Equal(t, f.url.Host, w.waitEvent(0).Via)
	require.Len(t, w.seen, 1)
	assert.Equal(t, "www.allowed.test", w.seen[0].Host)
	assert.Empty(t, w.seen[0].Header.Get("Proxy-Authorization"))
	w.call("OPTIONS http://allowed.test HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n").answer()
	asked, _ = f.seen()
	assert.Equal(t, "OPTIONS http://allowed.test", asked[1])
}

func TestWhatTheRulesAndTheScreenRefuseNeverReachesTheProxyInFront(t *testing.T) {
	w, f := behind(t)
	w.answers["inward.allowed.test."] = []netip.Addr{netip.MustParseAddr("10.0.0.1")}
	for host, code := range map[string]string{"other.test": CodeNotListed, "inward.allowed.test": CodeInwardAddress} {
		resp, _ := w.call("CONNECT " + host + ":443 HTTP/1.1\r\n\r\n").answer()
		assert.Equal(t, 403, resp.StatusCode, host)
		assert.Contains(t, resp.Header.Get("X-Kernel-Launch-Deny"), "code="+code)
	}
	asked, _ := f.seen()
	assert.Empty(t, asked)
}

func TestANameThatOnlyTheProxyInFrontKnows(t *testing.T) {
	w, f := behind(t)
	w.answers["allowed.test."] = []netip.Addr{} // no such name here
	w.call(connectAllowed).opened()
	asked, _ := f.seen()
	assert.Len(t, asked, 1)
}

// silent is a name server that drops what it is asked.
type silent struct{}

func (silent) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, &net.DNSError{Err: ctx.Err().Error(), IsTimeout: true}
}

func TestASilentNameServerDoesNotHoldUpTheProxyInFront(t *testing.T) {
	w, _ := behind(t, func(w *world) { w.proxy.Resolver = silent{} })
	start := time.Now()
	w.call(connectAllowed).opened()
	assert.Less(t, time.Since(start), w.proxy.Bounds.withDefaults().Dial)
}

func TestWhatIsPinnedOrInwardGoesDirectly(t *testing.T) {
	w, f := behind(t)
	pin, err := ParsePin("pinned.allowed.test", "127.0.0.1:8443")
	require.NoError(t, err)
	near, err := ParseInward("near.allowed.test", "10.0.0.0/8")
	require.NoError(t, err)
	w.rules.Pins, w.rules.Inward = []Pin{pin}, []Inward{near}
	w.answers["near.allowed.test."] = []netip.Addr{netip.MustParseAddr("10.0.0.1")}
	for _, host := range []string{"pinned.allowed.test", "near.allowed.test"} {
		w.call("CONNECT " + host + ":443 HTTP/1.1\r\n\r\n").opened()
	}
	assert.Equal(t, []string{"127.0.0.1:8443", "10.0.0.1:443"}, w.dialled)
	asked, _ := f.seen()
	assert.Empty(t, asked)
}

func TestARefusalOfTheProxyInFrontIsNamedAsItsOwn(t *testing.T) {
	for _, c := range []struct{ answer, code, phrase string }{
		{"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n", CodeProxyRefused, "says 407 Proxy Authentication Required"},
		{"HTTP/1.1 403 Category\x01 gambling\r\nContent-Length: 3\r\n\r\nabc", CodeProxyRefused, "says 403 Category"},
		{"SSH-2.0-nonsense\r\n\r\n", CodeProxyFailed, "broke off, or its answer is not HTTP"},
	} {
		w, f := behind(t)
		f.answer = c.answer
		resp, body := w.call(connectAllowed).answer()
		assert.Equal(t, 502, resp.StatusCode)
		assert.Contains(t, resp.Status, "the proxy "+f.url.Host)
		assert.Contains(t, resp.Status, c.phrase)
		assert.NotContains(t, body+resp.Status, proxyPassword)
		e := w.waitEvent(0)
		assert.Equal(t, []any{c.code, f.url.Host, EndFailed}, []any{e.Code, e.Via, e.End})
	}
	w, f := behind(t)
	f.answer = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
	resp, _ := w.call(fetch("http://allowed.test/", "")).answer()
	assert.Equal(t, 502, resp.StatusCode, "a client would ask its user for a password")
	assert.Contains(t, resp.Status, "says 407 Who")
}

func TestAProxyInFrontThatFailsAPlainRequestIsNamed(t *testing.T) {
	for answer, c := range map[string]struct {
		status int
		phrase string
	}{
		"SSH-2.0-nonsense\r\n\r\n": {502, "broke off, or its answer is not HTTP"},
		"HTTP/1.1 200":             {502, "broke off, or its answer is not HTTP"},
		"":                         {504, "did not answer"},
	} {
		w, f := behind(t, func(w *world) {
			w.proxy.Bounds.Idle = 300 * time.Millisecond
			if answer == "" {
				w.origin = listen(t, func(c *net.TCPConn) { io.Copy(io.Discard, c) })
			}
		})
		f.answer = answer
		resp, body := w.call(fetch("http://allowed.test/", "")).answer()
		assert.Equal(t, c.status, resp.StatusCode)
		assert.Contains(t, resp.Status, "the proxy "+f.url.Host+" "+c.phrase)
		assert.NotContains(t, body+resp.Status, proxyPassword)
		assert.Equal(t, CodeProxyFailed, w.waitEvent(0).Code)
	}
}

func TestAProxyInFrontThatIsNotThereOrCannotBeUsed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	gone := l.Addr().String()
	l.Close()
	for text, want := range map[string]string{"http://worker:" + proxyPassword + "@" + gone: "cannot be reached", "socks5://worker:" + proxyPassword + "@" + gone: "neither http nor https"} {
		w, f := behind(t)
		f.url, err = url.Parse(text)
		require.NoError(t, err)
		resp, body := w.call(connectAllowed).answer()
		assert.Equal(t, 502, resp.StatusCode)
		assert.Contains(t, resp.Status, want)
		assert.NotContains(t, body+resp.Status, proxyPassword)
		assert.Equal(t, CodeProxyFailed, w.waitEvent(0).Code)
		assert.Empty(t, w.dialled, "it is no reason to go past it")
	}
	w := newWorld(t, func(w *world) {
		w.proxy.Upstream = func(Target) (*url.URL, error) { return nil, errors.New("HTTPS_PROXY cannot be read") }
	})
	resp, _ := w.call(connectAllowed).answer()
	assert.Equal(t, 502, resp.StatusCode)
	assert.Contains(t, resp.Status, "HTTPS_PROXY cannot be read")
}

func TestACredentialGoesThroughTheProxyInFrontInTLS(t *testing.T) {
	b := newBroker(t)
	f := newFront(t, b.origin)
	b.proxy.Upstream = func(Target) (*url.URL, error) { return f.url, nil }
	resp, _ := b.call(fetch("http://www.example.com/v1", "")).answer()
	require.Equal(t, 200, resp.StatusCode)
	asked, _ := f.seen()
	assert.Equal(t, []string{"CONNECT www.example.com:443"}, asked)
	require.Len(t, b.seen, 1)
	assert.Equal(t, "Bearer "+token, b.seen[0].Get("Authorization"))
	assert.Empty(t, b.seen[0].Get("Proxy-Authorization"))
}

func TestAProxyInFrontThatIsSpokenToInTLS(t *testing.T) {
	origin := listen(t, func(c *net.TCPConn) { io.WriteString(c, "hello") })
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		up, err := net.Dial("tcp", origin)
		if err != nil {
			return
		}
		defer up.Close()
		conn, _, _ := w.(http.Hijacker).Hijack()
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		io.Copy(conn, up)
	}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, err := DialProxy(ctx, u, "allowed.test:443", &tls.Config{RootCAs: roots})
	require.NoError(t, err)
	defer conn.Close()
	b, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(bytes.TrimSpace(b)))
	_, err = DialProxy(ctx, u, "allowed.test:443", nil)
	assert.ErrorContains(t, err, "TLS failed", "the system does not know it")
}

func TestADialThroughAProxyOfAnotherKindSaysNothingToIt(t *testing.T) {
	met := make(chan struct{}, 1)
	u := &url.URL{Scheme: "socks5", User: url.UserPassword("worker", proxyPassword), Host: listen(t, func(*net.TCPConn) { met <- struct{}{} })}
	_, err := DialProxy(t.Context(), u, "allowed.test:443", nil)
	var fault *ProxyError
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, `its scheme "socks5" is neither http nor https`, fault.What)
	assert.Empty(t, met)
}

func TestADialThroughAProxyThatNeverAnswersEnds(t *testing.T) {
	held := make(chan struct{})
	u := &url.URL{Scheme: "http", Host: listen(t, func(*net.TCPConn) { <-held })}
	t.Cleanup(func() { close(held) }) // before the listener waits
	w := newWorld(t, func(w *world) {
		w.proxy.Upstream = func(Target) (*url.URL, error) { return u, nil }
		w.proxy.Bounds.Dial = 100 * time.Millisecond
	})
	resp, _ := w.call(connectAllowed).answer()
	assert.Equal(t, 504, resp.StatusCode)
	assert.Equal(t, CodeProxyFailed, w.waitEvent(0).Code)
}

func TestCheckSaysThatAProxyIsInFront(t *testing.T) {
	w, f := behind(t)
	w.answers["allowed.test."] = []netip.Addr{}
	rep := w.proxy.Check(t.Context(), Target{Name: "allowed.test", Port: 443})
	assert.Equal(t, Report{Host: "allowed.test", Port: 443, Verdict: Allow, Code: CodeAllowed, Rule: ".allowed.test", Addresses: []netip.Addr{}, Via: f.url.Host}, rep)
}

func TestTheAuditNamesTheProxyInFrontWithoutItsPassword(t *testing.T) {
	var a Audit
	e := a.entry(Event{Host: "allowed.test", Via: "proxy.test:3128"})
	assert.Equal(t, "proxy.test:3128", e.Via)
}
