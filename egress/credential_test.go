package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const token = "t0ps3cret"

// broker is a proxy that adds a header for www.example.com, which a real TLS
// server answers for; every other name leads there as well.
type broker struct {
	*world
	mu     sync.Mutex
	seen   []http.Header
	values []string
	fail   error
}

func newBroker(t *testing.T) *broker {
	b := &broker{values: []string{token}}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		h := r.Header.Clone()
		h.Set("Host", r.Host)
		b.seen = append(b.seen, h)
		b.mu.Unlock()
		if r.Header.Get("Upgrade") != "" {
			conn, rw, _ := w.(http.Hijacker).Hijack()
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			io.Copy(conn, rw)
			conn.Close()
			return
		}
		io.WriteString(w, "answer")
	}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	b.world = newWorld(t, withOrigin(s.Listener.Addr().String()), func(w *world) {
		w.rules = mustRules(".example.com", "other.test")
		w.proxy.TLS = &tls.Config{RootCAs: roots}
		w.proxy.Credentials = func() []Credential {
			return []Credential{{Host: "www.example.com", Header: "Authorization", Value: b.value}}
		}
	})
	return b
}

func (b *broker) value(context.Context) (Secret, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return "", b.fail
	}
	v := b.values[0]
	if len(b.values) > 1 {
		b.values = b.values[1:]
	}
	return Secret("Bearer " + v), nil
}

func fetch(url, fields string) string {
	host := strings.SplitN(strings.TrimPrefix(url, "http://"), "/", 2)[0]
	return "GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\n" + fields + "Connection: close\r\n\r\n"
}

func TestACredentialIsAddedToPlainRequestsOfItsHostAndTravelsInTLS(t *testing.T) {
	b := newBroker(t)
	resp, body := b.call(fetch("http://www.example.com/v1", "authorization: Bearer dummy\r\nAuthorization: Bearer other\r\nX-Own: 1\r\n")).answer()
	require.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, "answer", string(body))
	require.Len(t, b.seen, 1)
	assert.Equal(t, []string{"Bearer " + token}, b.seen[0].Values("Authorization"), "the client's own are gone")
	assert.Equal(t, "www.example.com", b.seen[0].Get("Host"))
	assert.Equal(t, "1", b.seen[0].Get("X-Own"))
	e := b.waitEvent(0)
	assert.Equal(t, uint16(443), e.Port, "the port that was spoken to")
	assert.Equal(t, []string{"192.0.2.80:443"}, b.dialled)
}

func TestNoOtherHostGetsIt(t *testing.T) {
	b := newBroker(t)
	for _, url := range []string{"http://api.example.com/", "http://example.com/", "http://other.test/"} {
		resp, _ := b.call(fetch(url, "")).answer()
		assert.Equal(t, 400, resp.StatusCode, "a TLS server was spoken to in the clear: %s", url)
	}
	assert.Empty(t, b.seen)
}

func TestTheRuleMustAllowThePortThatIsSpokenTo(t *testing.T) {
	b := newBroker(t)
	b.world.mu.Lock()
	b.rules = mustRules("www.example.com:80")
	b.world.mu.Unlock()
	resp, _ := b.call(fetch("http://www.example.com/", "")).answer()
	assert.Equal(t, 403, resp.StatusCode)
	assert.Equal(t, CodePortNotListed, b.waitEvent(0).Code)
	assert.Empty(t, b.dialled)
}

func TestTheValueIsReadForEveryRequest(t *testing.T) {
	b := newBroker(t)
	b.values = []string{"one", "two"}
	for range 2 {
		b.call(fetch("http://www.example.com/", "")).answer()
	}
	require.Len(t, b.seen, 2)
	assert.Equal(t, "Bearer one", b.seen[0].Get("Authorization"))
	assert.Equal(t, "Bearer two", b.seen[1].Get("Authorization"))
}

func TestWithoutItsValueNothingIsSent(t *testing.T) {
	b := newBroker(t)
	b.fail = errors.New("open token: no such file")
	resp, body := b.call(fetch("http://www.example.com/", "")).answer()
	assert.Equal(t, 502, resp.StatusCode)
	assert.Contains(t, string(body), "the credential Authorization for www.example.com cannot be had: open token: no such file")
	b.fail, b.values = nil, []string{"a\r\nX-Smuggled: 1"}
	resp, body = b.call(fetch("http://www.example.com/", "")).answer()
	assert.Equal(t, 502, resp.StatusCode)
	assert.NotContains(t, string(body), "Smuggled")
	assert.Equal(t, CodeCredential, b.waitEvent(1).Code)
	assert.Empty(t, b.seen)
}

func TestACertificateOfAnotherHostGetsNoCredential(t *testing.T) {
	b := newBroker(t)
	b.proxy.Credentials = func() []Credential {
		return []Credential{{Host: "other.test", Header: "Authorization", Value: b.value}}
	}
	resp, _ := b.call(fetch("http://other.test/", "")).answer()
	assert.Equal(t, 502, resp.StatusCode)
	assert.Empty(t, b.seen)
}

func TestAWebSocketGetsItToo(t *testing.T) {
	b := newBroker(t)
	c := b.call("GET http://www.example.com/ws HTTP/1.1\r\nHost: www.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n")
	line, err := c.r.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 101 Switching Protocols\r\n", line)
	for line != "\r\n" {
		line, err = c.r.ReadString('\n')
		require.NoError(t, err)
	}
	c.send("ping")
	got := make([]byte, 4)
	_, err = io.ReadFull(c.r, got)
	require.NoError(t, err)
	assert.Equal(t, "ping", string(got))
	assert.Equal(t, "Bearer "+token, b.seen[0].Get("Authorization"))
}

func TestATunnelGoesWithoutAndACheckSaysSo(t *testing.T) {
	b := newBroker(t)
	c := b.call("CONNECT www.example.com:443 HTTP/1.1\r\n\r\n").opened()
	s := tls.Client(c, &tls.Config{ServerName: "www.example.com", InsecureSkipVerify: true})
	_, err := io.WriteString(s, "GET / HTTP/1.0\r\nHost: www.example.com\r\n\r\n")
	require.NoError(t, err)
	io.ReadAll(s)
	require.Len(t, b.seen, 1)
	assert.Empty(t, b.seen[0].Get("Authorization"))
	target, err := ParseHost("www.example.com", 443)
	require.NoError(t, err)
	assert.Equal(t, []string{"Authorization"}, b.proxy.Check(t.Context(), target).Credentials)
}

func TestASecretIsNeverPrinted(t *testing.T) {
	s := Secret(token)
	data, err := json.Marshal(map[string]any{"a": s, "b": []Secret{s}, "c": &s})
	require.NoError(t, err)
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q", s, s, s, s, s), fmt.Sprintf("%v %#v", struct{ S Secret }{s}, struct{ S Secret }{s}), string(data)} {
		assert.NotContains(t, text, token)
	}
}
