package egress

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
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

// The host is allowed before and after. What let its address pass, or chose
// it, is what changes.
func TestAReviewEndsWhatGoesToAnAddressThatIsNoLongerAllowed(t *testing.T) {
	inward, err := ParseInward("allowed.test", "10.1.0.0/16")
	require.NoError(t, err)
	pin := func(to string) Pin {
		p, err := ParsePin("allowed.test", to)
		require.NoError(t, err)
		return p
	}
	near, public := netip.MustParseAddr("10.1.2.3"), publicAddr
	for name, row := range map[string]struct {
		answer        []netip.Addr
		before, after func(*Rules)
		ended         int
	}{
		"the same":                     {[]netip.Addr{public}, nil, nil, 0},
		"an exception that is gone":    {[]netip.Addr{near}, func(r *Rules) { r.Inward = []Inward{inward} }, nil, 1},
		"an exception that stays":      {[]netip.Addr{near, near.Next()}, func(r *Rules) { r.Inward = []Inward{inward} }, func(r *Rules) { r.Inward = []Inward{inward} }, 0},
		"a pin that is gone":           {nil, func(r *Rules) { r.Pins = []Pin{pin("127.0.0.1:4443")} }, nil, 1},
		"a pin that leads elsewhere":   {nil, func(r *Rules) { r.Pins = []Pin{pin("127.0.0.1:4443")} }, func(r *Rules) { r.Pins = []Pin{pin("127.0.0.1:4444")} }, 1},
		"a pin that stays":             {nil, func(r *Rules) { r.Pins = []Pin{pin("127.0.0.1:4443")} }, func(r *Rules) { r.Pins = []Pin{pin("127.0.0.1:4443")} }, 0},
		"a pin where there was none":   {[]netip.Addr{public}, nil, func(r *Rules) { r.Pins = []Pin{pin("127.0.0.1:4443")} }, 1},
		"an exception that is not for": {[]netip.Addr{public}, func(r *Rules) { r.Inward = []Inward{inward} }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rules := func(change func(*Rules)) *Rules {
				r := mustRules("allowed.test")
				if change != nil {
					change(r)
				}
				return r
			}
			w := newWorld(t)
			w.rules, w.answers["allowed.test."] = rules(row.before), row.answer
			w.call(connectAllowed).opened()
			w.mu.Lock()
			w.rules = rules(row.after)
			w.mu.Unlock()
			assert.Equal(t, row.ended, w.proxy.Review())
		})
	}
}

// opening is a host whose address an inward exception lets pass.
func opening(t *testing.T, w *world) {
	inward, err := ParseInward("allowed.test", "10.1.0.0/16")
	require.NoError(t, err)
	w.rules = mustRules("allowed.test")
	w.rules.Inward = []Inward{inward}
	w.answers["allowed.test."] = []netip.Addr{netip.MustParseAddr("10.1.2.3")}
}

func (w *world) change(r *Rules) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = r
}

func TestAReviewSeesWhereAKeptConnectionGoes(t *testing.T) {
	for _, kept := range []bool{false, true} {
		w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
			c.Read(make([]byte, 4<<10))
			if kept {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				c.Read(make([]byte, 4<<10))
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbegun")
			io.Copy(io.Discard, c)
		})))
		opening(t, w)
		const request = "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n"
		c := w.call(request)
		if kept {
			c.answer()
			c.send(request)
		}
		for line := ""; line != "\r\n"; {
			var err error
			line, err = c.r.ReadString('\n')
			require.NoError(t, err)
		}
		_, dialled, _ := w.counts()
		require.Equal(t, 1, dialled)
		w.change(mustRules("allowed.test"))
		assert.Equal(t, 1, w.proxy.Review(), "kept: %v", kept)
	}
}

// A review that comes while a host is dialled finds nothing to end. What it
// would have ended does not begin.
func TestAReviewHoldsForWhatIsBeingDialled(t *testing.T) {
	for name, c := range map[string]struct {
		after  *Rules
		ended  int
		status int
	}{
		"the exception is gone": {mustRules("allowed.test"), 0, 502},
		"the host is gone":      {mustRules("other.test"), 1, 0}, // closed, or told
		"more is allowed":       {nil, 0, 200},
	} {
		t.Run(name, func(t *testing.T) {
			begun, goOn := make(chan struct{}), make(chan struct{})
			w := newWorld(t)
			dial := w.proxy.Dial
			w.proxy.Dial = func(ctx context.Context, n, a string) (net.Conn, error) {
				close(begun)
				<-goOn
				return dial(ctx, n, a)
			}
			opening(t, w)
			wider := *w.rules
			wider.Allow = append(wider.Allow, mustRules("other.test").Allow...)
			call := w.call(connectAllowed)
			<-begun
			w.change(cmp.Or(c.after, &wider))
			assert.Equal(t, c.ended, w.proxy.Review())
			close(goOn)
			line, _ := call.r.ReadString('\n')
			if c.status != 0 {
				assert.Contains(t, line, fmt.Sprintf(" %d ", c.status))
				return
			}
			assert.NotContains(t, line, " 200 ")
			assert.NotContains(t, line, "too long")
		})
	}
}
