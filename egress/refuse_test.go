package egress

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRefusalNamesTheHostWhereClientsShowIt(t *testing.T) {
	for raw, want := range map[string][2]string{
		"CONNECT other.test:443 HTTP/1.1\r\n\r\n":    {"403 other.test is not on the allowlist", "code=not-listed; host=other.test; rule=-"},
		get("http://other.test/"):                    {"403 other.test is not on the allowlist", "code=not-listed; host=other.test; rule=-"},
		"CONNECT allowed.test:25 HTTP/1.1\r\n\r\n":   {"403 allowed.test is allowed, its port 25 is not", "code=port-not-listed; host=allowed.test; rule=.allowed.test"},
		"CONNECT localhost:443 HTTP/1.1\r\n\r\n":     {"403 localhost is a name for the machine itself, which is never reached through the proxy", "code=local-name; host=localhost; rule=-"},
		"CONNECT 127.1:443 HTTP/1.1\r\n\r\n":         {"403 127.1 is a number, and not the usual spelling of an address", "code=numeric-host; host=127.1; rule=-"},
		"CONNECT [::1]:443 HTTP/1.1\r\n\r\n":         {"403 ::1 is an address, and no rule is that address", "code=address-literal; host=::1; rule=-"},
		"CONNECT allowed.test:443 HTTP/2.0\r\n\r\n":  {"400 not HTTP/1", ""},
		"CONNECT allowed.test:0443 HTTP/1.1\r\n\r\n": {"400 port 0443 starts with a zero", ""},
	} {
		w := newWorld(t)
		c := w.call(raw)
		resp, body := c.answer()
		assert.Equal(t, want[0], resp.Status)
		assert.Equal(t, want[1], resp.Header.Get("X-Kernel-Launch-Deny"))
		assert.True(t, resp.Close)
		assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
		var j map[string]any
		require.NoError(t, json.Unmarshal([]byte(body), &j))
		assert.Equal(t, w.waitEvent(0).Code, j["code"])
		assert.Equal(t, EndRefused, w.waitEvent(0).End)
		_, err := c.r.ReadByte()
		assert.ErrorIs(t, err, io.EOF)
		looked, dialled, _ := w.counts()
		assert.Zero(t, looked+dialled)
	}
}

// The line that would allow a refused host is whoever's who runs the proxy,
// who is asked about what the policy refused and about nothing else.
func TestRefusalSaysWhatWouldAllowIt(t *testing.T) {
	var asked []Event
	w := newWorld(t, func(w *world) {
		w.answers["in.allowed.test."] = addrs("10.0.0.1")
		w.answers["none.allowed.test."] = addrs()
		w.proxy.Remedy = func(e Event) string {
			asked = append(asked, e) // one connection at a time
			if e.Code == CodeInwardAddress {
				return ""
			}
			return fmt.Sprintf("allow '%s' %d <now>", e.Host, e.Port)
		}
	})
	for _, c := range []struct{ raw, allow, code string }{
		{"CONNECT files.example:8443 HTTP/1.1\r\n\r\n", "allow 'files.example' 8443 <now>", CodeNotListed},
		{get("http://files.example/"), "allow 'files.example' 80 <now>", CodeNotListed},
		{"CONNECT in.allowed.test:443 HTTP/1.1\r\n\r\n", "", CodeInwardAddress},
		{"CONNECT none.allowed.test:443 HTTP/1.1\r\n\r\n", "", ""},
		{"CONNECT a b HTTP/1.1\r\n\r\n", "", ""},
	} {
		asked = nil
		_, body := w.call(c.raw).answer()
		var j struct{ Allow string }
		require.NoError(t, json.Unmarshal([]byte(body), &j))
		assert.Equal(t, c.allow, j.Allow)
		if c.code == "" {
			assert.Empty(t, asked)
			continue
		}
		require.Len(t, asked, 1)
		assert.Equal(t, c.code, asked[0].Code)
		assert.Equal(t, Deny, asked[0].Verdict)
	}
	_, body := newWorld(t).call("CONNECT files.example:443 HTTP/1.1\r\n\r\n").answer()
	assert.NotContains(t, body, `"allow"`)
}

// A refused CONNECT closes: what was sent behind it is no next request.
func TestRefusedConnectReadsNoFurther(t *testing.T) {
	w := newWorld(t)
	c := w.call("CONNECT evil.test:443 HTTP/1.1\r\n\r\n" + get("http://allowed.test/x"))
	resp, _ := c.answer()
	assert.Equal(t, 403, resp.StatusCode)
	_, err := c.r.ReadByte()
	assert.ErrorIs(t, err, io.EOF)
	_, _, seen := w.counts()
	assert.Zero(t, seen)
}

// The answer arrives though the client is still sending, and a client that
// never stops is cut off.
func TestRefusalIsDrainedForAMoment(t *testing.T) {
	w := newWorld(t)
	c := w.call("POST http://evil.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n")
	stop := make(chan error, 1)
	start := time.Now()
	go func() {
		var err error
		for err == nil {
			_, err = c.Write(make([]byte, 64<<10))
			time.Sleep(time.Millisecond)
		}
		stop <- err
	}()
	resp, _ := c.answer()
	assert.Equal(t, 403, resp.StatusCode)
	assert.Error(t, <-stop)
	assert.Less(t, time.Since(start), 5*time.Second)
}

func TestHeadFloodIsBounded(t *testing.T) {
	for name, flood := range map[string][2]string{
		"line":   {"GET http://allowed.test/", "414"},
		"header": {"GET http://allowed.test/ HTTP/1.1\r\nX: ", "431"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.call(flood[0])
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			piece := strings.Repeat("a", 64<<10)
			sent := 0
			for sent < 64<<20 {
				n, err := io.WriteString(c, piece)
				if sent += n; err != nil {
					break
				}
				if c.r.Buffered() > 0 || sent > 1<<20 {
					break
				}
			}
			line, _ := c.answerHead()
			assert.Contains(t, line, flood[1])
			runtime.ReadMemStats(&after)
			assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(3<<20))
		})
	}
}

// The time is for the whole head: a byte now and then does not extend it.
func TestSlowHeadEnds(t *testing.T) {
	w := newWorld(t, func(w *world) { w.proxy.Bounds.HeadTime = 150 * time.Millisecond })
	c := w.call("")
	start := time.Now()
	go func() {
		for _, b := range "GET http://allowed.test/ HTTP/1.1\r\nHost: x\r\nX: aaaaaaaaaaaaaaaaaaaaaaaaa" {
			if _, err := io.WriteString(c, string(b)); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	resp, err := http.ReadResponse(c.r, nil)
	require.NoError(t, err)
	assert.Equal(t, 408, resp.StatusCode)
	assert.Less(t, time.Since(start), time.Second)

	_, err = w.call("").r.ReadByte()
	assert.ErrorIs(t, err, io.EOF, "a silent client is closed without an answer")
}

func TestZeroProxyDenies(t *testing.T) {
	w := newWorld(t, func(w *world) { w.proxy.Rules, w.proxy.Event = nil, nil })
	resp, _ := w.call(connectAllowed).answer()
	assert.Equal(t, 403, resp.StatusCode)
	assert.Equal(t, CodePolicyUnreadable, (&Proxy{}).Check(t.Context(), Target{Name: "allowed.test", Port: 443}).Code)
}

func TestPhraseIsOneLineOfASCII(t *testing.T) {
	assert.Equal(t, "Refused", phrase(""))
	assert.Equal(t, `a b\x1b[31m ?`, phrase("a\r\nb\x1b[31m ü"))
	assert.LessOrEqual(t, len(phrase(strings.Repeat("ü", 5000))), maxPhrase)
}

func TestClientEnvironment(t *testing.T) {
	env := ClientEnvironment("127.0.0.1:3128")
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		assert.Equal(t, env[name], env[strings.ToLower(name)])
	}
	assert.Equal(t, "http://127.0.0.1:3128", env["https_proxy"])
	assert.Equal(t, "localhost,127.0.0.1,::1", env["no_proxy"])
	assert.Equal(t, "1", env["NODE_USE_ENV_PROXY"])
}
