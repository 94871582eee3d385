package egress

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAReviewEndsWhatIsNoLongerAllowed(t *testing.T) {
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) { io.Copy(c, onlyReader{c}) })))
	w.rules = mustRules("a.allowed.test", "b.allowed.test")
	a := w.call("CONNECT a.allowed.test:443 HTTP/1.1\r\n\r\n").opened()
	b := w.call("CONNECT b.allowed.test:443 HTTP/1.1\r\n\r\n").opened()
	echo := func(c *call, text string) {
		c.send(text)
		got := make([]byte, len(text))
		_, err := io.ReadFull(c.r, got)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
	}
	echo(a, "one")
	echo(b, "two")
	assert.Zero(t, w.proxy.Review())

	w.mu.Lock()
	w.rules = mustRules("b.allowed.test")
	w.mu.Unlock()
	echo(a, "still open: a change alone disturbs nothing")
	assert.Equal(t, 1, w.proxy.Review())
	_, err := io.ReadAll(a.r)
	if err != nil {
		require.ErrorContains(t, err, "reset")
	}
	e := w.waitEvent(0)
	assert.Equal(t, "a.allowed.test", e.Host)
	assert.Equal(t, EndDenied, e.End)
	echo(b, "three")
	resp, _ := w.call("CONNECT a.allowed.test:443 HTTP/1.1\r\n\r\n").answer()
	assert.Equal(t, 403, resp.StatusCode)

	w.mu.Lock()
	w.rules = nil
	w.mu.Unlock()
	assert.Zero(t, w.proxy.Review(), "rules that cannot be read end nothing that is open")
	echo(b, "four")
}

func TestAReviewEndsAnAnswerThatGoesOn(t *testing.T) {
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		c.Read(make([]byte, 4<<10)) // an answer that comes before its request is none
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbegun")
		io.Copy(io.Discard, c)
	})))
	c := w.call("GET http://www.allowed.test/ HTTP/1.1\r\nHost: www.allowed.test\r\n\r\n")
	for line := ""; line != "\r\n"; {
		var err error
		line, err = c.r.ReadString('\n')
		require.NoError(t, err)
	}
	w.mu.Lock()
	w.rules = mustRules("other.test")
	w.mu.Unlock()
	assert.Equal(t, 1, w.proxy.Review())
	assert.Equal(t, EndDenied, w.waitEvent(0).End)
}
