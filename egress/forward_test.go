package egress

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func get(url string) string { return "GET " + url + " HTTP/1.1\r\nHost: whatever.test\r\n\r\n" }

// The origin sees the path byte for byte, and the target as Host.
func TestPathAndHostReachTheOrigin(t *testing.T) {
	for target, want := range map[string][2]string{
		"http://allowed.test":                    {"allowed.test", "/"},
		"http://allowed.test?a=1":                {"allowed.test", "/?a=1"},
		"http://allowed.test/?":                  {"allowed.test", "/?"},
		"HTTP://ALLOWED.test.:443/a%2fb%2F|{}?q": {"allowed.test:443", "/a%2fb%2F|{}?q"},
		"http://allowed.test//evil.test/x?a=b":   {"allowed.test", "//evil.test/x?a=b"},
		"http://allowed.test//x?":                {"allowed.test", "//x?"},
		"http://allowed.test/a/../../x":          {"allowed.test", "/a/../../x"},
		"http://allowed.test/@evil.test:1/":      {"allowed.test", "/@evil.test:1/"},
		"http://allowed.test/http://evil.test/":  {"allowed.test", "/http://evil.test/"},
	} {
		w := newWorld(t)
		resp, _ := w.call(get(target)).answer()
		require.Equal(t, 200, resp.StatusCode, target)
		assert.Equal(t, want[0], w.seen[0].Host, target)
		assert.Equal(t, want[1], w.seen[0].RequestURI, target)
	}
}

func TestKeepAliveJudgesEachRequest(t *testing.T) {
	w := newWorld(t)
	c := w.call(get("http://allowed.test/1"))
	resp, body := c.answer()
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, "origin answers /1", body)
	c.send(get("http://api.allowed.test/2"))
	_, body = c.answer()
	assert.Equal(t, "origin answers /2", body)
	c.send(get("http://api.allowed.test/3"))
	_, body = c.answer()
	assert.Equal(t, "origin answers /3", body)
	looked, dialled, _ := w.counts()
	assert.Equal(t, [2]int{2, 2}, [2]int{looked, dialled}, "the third request uses the second's connection")
	c.send(get("http://evil.test/4"))
	resp, _ = c.answer()
	assert.Equal(t, 403, resp.StatusCode)
	_, err := c.r.ReadByte()
	assert.ErrorIs(t, err, io.EOF, "a refusal is the end")
	assert.Equal(t, []string{"allowed.test.", "api.allowed.test."}, w.looked)
	assert.Equal(t, "evil.test", w.waitEvent(3).Host)
}

func TestPipelinedRequestsAreServedInTurn(t *testing.T) {
	w := newWorld(t)
	c := w.call(get("http://allowed.test/1") + get("http://evil.test/2") + get("http://allowed.test/3"))
	resp, _ := c.answer()
	assert.Equal(t, 200, resp.StatusCode)
	resp, _ = c.answer()
	assert.Equal(t, 403, resp.StatusCode)
	_, err := c.r.ReadByte()
	assert.ErrorIs(t, err, io.EOF, "what follows a refusal is never read")
	_, _, seen := w.counts()
	assert.Equal(t, 1, seen)
}

func TestQueuedConnectIsJudgedFirst(t *testing.T) {
	w := newWorld(t)
	resp, _ := w.call(get("http://allowed.test/1") + "CONNECT evil.test:443 HTTP/1.1\r\n\r\n").answer()
	assert.Equal(t, "403 evil.test is not on the allowlist", resp.Status)
	e := w.waitEvent(0)
	assert.Equal(t, "evil.test:443 deny not-listed", fmt.Sprintf("%s:%d %s %s", e.Host, e.Port, e.Verdict, e.Code))

	w = newWorld(t, withOrigin(answering(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")))
	c := w.call(get("http://allowed.test/1") + connectAllowed)
	_, body := c.answer()
	assert.Equal(t, "ok", body, "one that is allowed waits its turn")
	c.opened()
}

func TestRulesAreReadForEveryRequest(t *testing.T) {
	w := newWorld(t)
	c := w.call(get("http://late.example/"))
	resp, _ := c.answer()
	assert.Equal(t, 403, resp.StatusCode)
	w.mu.Lock()
	w.rules = mustRules("late.example")
	w.mu.Unlock()
	c = w.call(get("http://late.example/"))
	resp, _ = c.answer()
	assert.Equal(t, 200, resp.StatusCode)
	w.mu.Lock()
	w.rules = nil
	w.mu.Unlock()
	c.send(get("http://late.example/"))
	resp, _ = c.answer()
	assert.Equal(t, 403, resp.StatusCode, "a policy that cannot be read denies")
	assert.Contains(t, resp.Header.Get("X-Kernel-Launch-Deny"), "code=policy-unreadable; host=late.example; rule=-")
}

func TestUploads(t *testing.T) {
	big := string(randomBytes(1 << 20))
	for name, c := range map[string]struct{ framing, body, want string }{
		"length":   {"Content-Length: 5", "HELLO", "HELLO"},
		"chunked":  {"Transfer-Encoding: chunked", "5;x=y\r\nHELLO\r\n1\r\n!\r\n0\r\nX: 1\r\n\r\n", "HELLO!"},
		"big":      {"Content-Length: " + strconv.Itoa(len(big)), big, big},
		"none":     {"Content-Length: 0", "", ""},
		"continue": {"Expect: 100-continue\r\nContent-Length: 5", "HELLO", "HELLO"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			call := w.call("POST http://allowed.test/up HTTP/1.1\r\nHost: x\r\n" + c.framing + "\r\n\r\n")
			if name == "continue" {
				line, err := call.r.ReadString('\n')
				require.NoError(t, err)
				require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
				call.r.ReadString('\n')
			}
			call.send(c.body)
			resp, _ := call.answer()
			assert.Equal(t, 200, resp.StatusCode)
			assert.True(t, c.want == w.bodies[0])
			assert.Empty(t, w.seen[0].Trailer)
			assert.Equal(t, int64(len(c.want)), w.waitEvent(0).Sent)
			call.send(get("http://allowed.test/again"))
			_, body := call.answer()
			assert.Equal(t, "origin answers /again", body)
		})
	}
}

// A body that turns out malformed late never reaches the origin as complete.
func TestMalformedBodyIsNeverComplete(t *testing.T) {
	got := make(chan error, 1)
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		req, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil {
			_, err = io.ReadAll(req.Body)
		}
		got <- err
	})))
	resp, _ := w.call("POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n5\nHELLO\r\n0\r\n\r\n").answer()
	assert.Equal(t, 400, resp.StatusCode)
	assert.Error(t, <-got)
}

func TestAnswersOfEveryForm(t *testing.T) {
	for name, c := range map[string]struct{ method, raw, body string }{
		"length":  {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELLO", "HELLO"},
		"chunked": {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\n\r\n", "HELLO"},
		"eof":     {"GET", "HTTP/1.0 200 OK\r\n\r\nHELLO", "HELLO"},
		"204":     {"GET", "HTTP/1.1 204 No Content\r\n\r\n", ""},
		"304":     {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", ""},
		"early":   {"GET", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELLO", "HELLO"},
	} {
		for _, version := range []string{"1.1", "1.0"} {
			t.Run(name+" to "+version, func(t *testing.T) {
				w := newWorld(t, withOrigin(answering(t, c.raw)))
				call := w.call(c.method + " http://allowed.test/ HTTP/" + version + "\r\nHost: x\r\n\r\n")
				resp, body := call.answer()
				assert.Equal(t, c.body, body)
				assert.Equal(t, strings.Fields(c.raw[strings.LastIndex(c.raw, "HTTP/"):])[1], strconv.Itoa(resp.StatusCode))
				if version == "1.0" {
					assert.True(t, resp.Close)
					assert.NotContains(t, resp.TransferEncoding, "chunked")
				}
			})
		}
	}
}

// answering is an origin that reads one head and writes raw.
func answering(t *testing.T, raw string) string {
	return listen(t, func(c *net.TCPConn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			io.WriteString(c, raw)
		}
	})
}

func TestHeadRequestKeepsTheLength(t *testing.T) {
	w := newWorld(t, withOrigin(answering(t, "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n")))
	c := w.call("HEAD http://allowed.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
	resp, err := http.ReadResponse(c.r, &http.Request{Method: "HEAD"})
	require.NoError(t, err)
	assert.Equal(t, int64(77), resp.ContentLength)
}

func TestAnswerHeadersThatStayHere(t *testing.T) {
	w := newWorld(t, withOrigin(answering(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nProxy-Authenticate: Basic\r\nX-Kernel-Launch-Deny: forged\r\nTrailer: T\r\nX-End: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n")))
	resp, _ := w.call(get("http://allowed.test/")).answer()
	for _, name := range []string{"X-Hop", "Keep-Alive", "Proxy-Authenticate", "X-Kernel-Launch-Deny", "Trailer"} {
		assert.NotContains(t, resp.Header, name)
	}
	assert.Equal(t, []string{"1"}, resp.Header.Values("X-End"))
	assert.Equal(t, []string{"a", "b"}, resp.Header.Values("Set-Cookie"))
}

func TestOriginsThatMisbehave(t *testing.T) {
	for name, c := range map[string]struct {
		raw    string
		status int
	}{
		"no http":       {"SSH-2.0-OpenSSH\r\n", 502},
		"nothing":       {"", 502},
		"two lengths":   {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nHELLO", 502},
		"endless head":  {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 1<<20), 502},
		"101 unasked":   {"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", 502},
		"odd status":    {"HTTP/1.1 999 \x1b[31mred\r\nContent-Length: 0\r\n\r\n", 999},
		"cut in answer": {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nHELLO", 0},
		"cut in chunks": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nHELLO", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withOrigin(answering(t, c.raw)))
			call := w.call(get("http://allowed.test/"))
			resp, err := http.ReadResponse(call.r, nil)
			require.NoError(t, err)
			if c.status == 0 {
				_, err = io.ReadAll(resp.Body)
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "a cut answer must not look whole")
				assert.Equal(t, EndUpstream, w.waitEvent(0).End)
				return
			}
			assert.Equal(t, c.status, resp.StatusCode)
			assert.NotContains(t, resp.Status, "\x1b")
		})
	}
}

// An answer is passed on piece by piece.
func TestStreamsAreNotHeldBack(t *testing.T) {
	next := make(chan struct{})
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		http.ReadRequest(bufio.NewReader(c))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
		<-next
		io.WriteString(c, "3\r\ntwo\r\n0\r\n\r\n")
	})))
	resp, err := http.ReadResponse(w.call(get("http://allowed.test/")).r, nil)
	require.NoError(t, err)
	buf := make([]byte, 3)
	_, err = io.ReadFull(resp.Body, buf)
	require.NoError(t, err)
	assert.Equal(t, "one", string(buf))
	close(next)
	rest, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "two", string(rest))
}

// An origin that answers before the upload has ended is heard.
func TestEarlyAnswerToAnUpload(t *testing.T) {
	w := newWorld(t, withOrigin(answering(t, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")))
	c := w.call("POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nHELLO")
	resp, body := c.answer()
	assert.Equal(t, 413, resp.StatusCode)
	assert.Equal(t, "no", body)
	assert.True(t, resp.Close)
}

func TestResetClientEndsAWaitingRequest(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		http.ReadRequest(bufio.NewReader(c))
		close(begun)
		io.Copy(io.Discard, c)
		close(ended)
	})))
	c := w.call(get("http://allowed.test/"))
	<-begun
	reset(c)
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Fatal("the origin is still asked")
	}
	assert.Equal(t, CodeClientLeft, w.waitEvent(0).Code)
}

// A client that ends its side behind the request still reads the answer.
func TestHalfClosedClientIsAnswered(t *testing.T) {
	w := newWorld(t)
	inner := w.proxy.Dial
	w.proxy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		time.Sleep(100 * time.Millisecond)
		return inner(ctx, network, address)
	}
	c := w.call(get("http://allowed.test/x"))
	c.CloseWrite()
	_, body := c.answer()
	assert.Equal(t, "origin answers /x", body)
}

func TestWebSocketPassesWhole(t *testing.T) {
	seen := make(chan *http.Request, 1)
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		seen <- req
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: y\r\n\r\nfirst frame")
		all, _ := io.ReadAll(r)
		c.Write(bytes.ToUpper(all))
	})))
	c := w.call("GET http://allowed.test/ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: k\r\nProxy-Connection: x\r\n\r\n")
	resp, err := http.ReadResponse(c.r, nil)
	require.NoError(t, err)
	require.Equal(t, 101, resp.StatusCode)
	assert.Equal(t, "y", resp.Header.Get("Sec-WebSocket-Accept"))
	assert.Equal(t, "websocket", resp.Header.Get("Upgrade"))
	req := <-seen
	assert.Equal(t, "k", req.Header.Get("Sec-WebSocket-Key"))
	assert.Equal(t, "Upgrade", req.Header.Get("Connection"))
	assert.NotContains(t, req.Header, "Proxy-Connection")
	assert.Equal(t, "allowed.test", req.Host)
	c.send("frame from the client")
	c.CloseWrite()
	all, err := io.ReadAll(c.r)
	require.NoError(t, err)
	assert.Equal(t, "first frameFRAME FROM THE CLIENT", string(all))
	assert.Equal(t, EndClosed, w.waitEvent(0).End)
}

// TestAKeptConnectionIsNoWayPastChangedRules: an address that was opened inward
// is not reached through what is left from before.
func TestAKeptConnectionIsNoWayPastChangedRules(t *testing.T) {
	w := newWorld(t)
	in, err := ParseInward("allowed.test", "10.1.0.0/16")
	require.NoError(t, err)
	w.answers["allowed.test."] = []netip.Addr{netip.MustParseAddr("10.1.2.3")}
	inward := mustRules("allowed.test")
	inward.Inward = []Inward{in}
	w.rules = inward
	c := w.call(get("http://allowed.test/1"))
	resp, _ := c.answer()
	require.Equal(t, 200, resp.StatusCode, "the control")
	c.send(get("http://allowed.test/2"))
	resp, _ = c.answer()
	require.Equal(t, 200, resp.StatusCode)
	_, dialled, _ := w.counts()
	require.Equal(t, 1, dialled, "it is kept")
	w.mu.Lock()
	w.rules = mustRules("allowed.test")
	w.mu.Unlock()
	c.send(get("http://allowed.test/3"))
	resp, _ = c.answer()
	assert.Equal(t, 403, resp.StatusCode)
	assert.Equal(t, CodeInwardAddress, w.waitEvent(2).Code)
}

// A change of a pin reaches a kept-alive client.
func TestChangedPinGivesUpTheOldConnection(t *testing.T) {
	other := answering(t, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother")
	w := newWorld(t, func(w *world) { w.proxy.Dial = nil })
	repin := func(addr string) {
		pin, err := ParsePin("allowed.test", addr)
		require.NoError(t, err)
		r := mustRules("allowed.test")
		r.Pins = []Pin{pin}
		w.mu.Lock()
		w.rules = r
		w.mu.Unlock()
	}
	repin(w.origin)
	c := w.call(get("http://allowed.test/1"))
	_, body := c.answer()
	assert.Equal(t, "origin answers /1", body)
	repin(other)
	c.send(get("http://allowed.test/2"))
	_, body = c.answer()
	assert.Equal(t, "other", body)
}

func TestManyClientsAtOnce(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			c := w.call("")
			for j := range 5 {
				path := fmt.Sprintf("/%d-%d", i, j)
				c.send(get("http://allowed.test" + path))
				_, body := c.answer()
				assert.Equal(t, "origin answers "+path, body)
			}
		})
	}
	wg.Wait()
}
