package egress

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func basic(user, secret string) string {
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret)) + "\r\n"
}

func TestWithoutTheSecretNothingIsTold(t *testing.T) {
	secret := NewSecret()
	assert.Regexp(t, regexp.MustCompile(`^[0-9a-f]{32}$`), secret)
	assert.NotEqual(t, secret, NewSecret())
	w := newWorld(t, func(w *world) { w.proxy.Secret = secret })
	n := 0
	for _, auth := range []string{
		"", basic(secretUser, ""), basic(secretUser, secret[:31]), basic(secretUser, secret+"0"), basic("", secret), basic("other", secret),
		"Proxy-Authorization: Bearer " + secret + "\r\n", "Proxy-Authorization: Basic !!\r\n", "Authorization: Basic " + secret + "\r\n",
	} {
		for _, request := range []string{"CONNECT www.allowed.test:443 HTTP/1.1\r\n", "CONNECT 127.0.0.1:22 HTTP/1.1\r\n", "GET http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\n"} {
			resp, _ := w.call(request + auth + "\r\n").answer()
			assert.Equal(t, 407, resp.StatusCode, "%q %q", request, auth)
			assert.Equal(t, `Basic realm="kernel-launch"`, resp.Header.Get("Proxy-Authenticate"))
			e := w.waitEvent(n)
			n++
			assert.Equal(t, CodeNoSecret, e.Code)
			assert.Empty(t, e.Host)
		}
	}
	assert.Empty(t, w.looked)
	assert.Empty(t, w.dialled)
	w.call("CONNECT www.allowed.test:443 HTTP/1.1\r\n" + basic(secretUser, secret) + "\r\n").opened()
	resp, _ := w.call("CONNECT denied.test:443 HTTP/1.1\r\n" + basic(secretUser, secret) + "\r\n").answer()
	assert.Equal(t, 403, resp.StatusCode, "policy is never a 407")
}

func TestWithoutTheSecretNothingIsToldOfOthersEither(t *testing.T) {
	secret := NewSecret()
	w := newWorld(t, func(w *world) { w.proxy.Secret, w.proxy.Bounds.Connections = secret, 1 })
	request := "CONNECT www.allowed.test:443 HTTP/1.1\r\n"
	w.call(request + basic(secretUser, secret) + "\r\n").opened()
	resp, _ := w.call(request + "\r\n").answer()
	assert.Equal(t, 407, resp.StatusCode)
	resp, _ = w.call("no HTTP\r\n\r\n").answer()
	assert.Equal(t, 407, resp.StatusCode)
	resp, _ = w.call(request + basic(secretUser, secret) + "\r\n").answer()
	assert.Equal(t, 503, resp.StatusCode)
}

// Go's own client takes the secret from the variable, and the origin never
// sees it.
func TestARealClientSendsTheSecret(t *testing.T) {
	secret := NewSecret()
	w := newWorld(t, func(w *world) { w.proxy.Secret = secret })
	proxy, err := url.Parse(ClientEnvironment(WithSecret(w.addr, secret))["HTTP_PROXY"])
	require.NoError(t, err)
	c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}}
	resp, err := c.Get("http://www.allowed.test/")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 200, resp.StatusCode)
	require.Len(t, w.seen, 1)
	assert.Empty(t, w.seen[0].Header.Get("Proxy-Authorization"))
}
