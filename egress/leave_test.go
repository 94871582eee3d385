package egress

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

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

func shut(c *call) { c.CloseWrite() }

func shutAndReset(c *call) {
	c.CloseWrite()
	reset(c)
}

// A client that leaves while its host is dialled ends that within a tenth of a
// second. It is the middle one of several that counts, and a machine that is
// busy with other things may need more than one attempt.
func TestClientThatLeavesEndsTheDial(t *testing.T) {
	plainGet := "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n"
	post := "POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 1000000\r\n\r\n"
	upgrade := "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
	many := strings.Repeat("early", 20_000) // more than is held
	for name, run := range map[string]struct {
		raw   string
		leave func(*call)
	}{
		"reset":                           {connectAllowed, reset},
		"reset after early bytes":         {connectAllowed + "EARLY", reset},
		"reset after many of them":        {connectAllowed + many, reset},
		"reset after its end":             {connectAllowed + "EARLY", shutAndReset},
		"end without a byte":              {connectAllowed, shut},
		"reset of a plain request":        {plainGet, reset},
		"reset of a request before more":  {plainGet + plainGet, reset},
		"reset of a request, then closed": {plainGet, shutAndReset},
		"reset of an upload":              {post + "HELLO", reset},
		"reset of a large upload":         {post + many, reset},
		"reset of an upgrade":             {upgrade, reset},
		"reset of an upgrade, then more":  {upgrade + many, reset},
	} {
		t.Run(name, func(t *testing.T) {
			begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			w := newWorld(t, hanging(begun, ended))
			leave := func() time.Duration {
				n := w.reported()
				c := w.call(run.raw)
				<-begun
				start := time.Now()
				run.leave(c)
				<-ended
				took := time.Since(start)
				assert.Equal(t, CodeClientLeft, w.waitEvent(n).Code)
				return took
			}
			var middle time.Duration
			for range 20 {
				if middle = medianOf(5, leave); middle <= 100*time.Millisecond {
					break
				}
			}
			t.Log(middle)
			assert.LessOrEqual(t, middle, 100*time.Millisecond)
		})
	}
}

func medianOf(n int, measure func() time.Duration) time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = measure()
	}
	slices.Sort(all)
	return all[n/2]
}
