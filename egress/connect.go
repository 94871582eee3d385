package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

const established = "HTTP/1.1 200 Connection established\r\n\r\n"

// connect judges a CONNECT request, reaches the host and opens a tunnel.
func (c *client) connect(x *exchange) {
	t, err := ParseAuthority(x.head.target)
	if err != nil {
		c.refuse(x, targetRefusal(err))
		return
	}
	if r := c.judge(x, t); r != nil {
		c.refuse(x, r)
		return
	}
	if !sameHost(x.head.host, t) {
		c.refuse(x, &refusal{status: 400, code: CodeMalformed, what: "Host and the CONNECT target differ"})
		return
	}
	x.head.fields = nil // a tunnel may live for days, and needs none of them
	w := c.watchEarly()
	up, err := c.p.reach(w.ctx, x.trip, w.dials)
	early, gone := w.stop()
	if err != nil {
		c.failed(x, err, gone)
		return
	}
	c.open(x, up, early)
}

// passage is a tunnel that has been answered for.
type passage struct {
	x      *exchange
	tunnel *tunnel
}

// open answers, and leaves the tunnel to whoever called for requests.
func (c *client) open(x *exchange, up net.Conn, early []byte) {
	c.conn.SetWriteDeadline(time.Now().Add(c.b.Idle))
	if _, err := io.WriteString(c.conn, established); err != nil {
		up.Close()
		c.report(x, CodeClientLeft, EndClient)
		return
	}
	c.conn.SetWriteDeadline(time.Time{})
	t := c.opened(up)
	t.target, t.early, t.hello = x.trip.target, early, c.b.HeadTime
	c.passage = &passage{x, t}
}

// carry passes bytes until both sides are done.
func (c *client) carry() {
	defer c.leave()
	x, t := c.passage.x, c.passage.tunnel
	defer t.up.Close()
	end := c.through(t)
	x.ev.Sent, x.ev.Received = t.sent.Load(), t.received.Load()
	code := ""
	if t.other {
		x.ev.Verdict, code = Deny, CodeServerName
	}
	c.report(x, code, end)
}

// judge decides and writes the decision into the event.
func (c *client) judge(x *exchange, t Target) *refusal {
	x.ev.Host, x.ev.Port = t.Host(), t.Port
	trip, r := c.p.judge(t)
	if r != nil {
		return r
	}
	x.trip = trip
	c.allowed.Store(trip)
	if r := c.p.reviewed(trip); r != nil {
		return r
	}
	x.ev.Verdict, x.ev.Code, x.ev.Rule = Allow, trip.d.Code, trip.d.Rule
	return nil
}

// failed answers for a host that was not reached; a client that is gone gets
// only its event.
func (c *client) failed(x *exchange, err error, gone bool) {
	if gone {
		c.report(x, CodeClientLeft, EndClient)
		return
	}
	var r *refusal
	if !errors.As(err, &r) {
		r = x.trip.fail(502, CodeUpstream, x.trip.target.Host()+" broke off")
	}
	c.refuse(x, r)
}

// targetRefusal answers 403 for what another program would have dialled, 400
// for what is no target to anybody.
func targetRefusal(err error) *refusal {
	r := &refusal{status: 400, code: CodeMalformed, what: err.Error()}
	var te *TargetError
	if errors.As(err, &te) {
		r.what = te.What
		if te.Code == CodeNumericHost {
			r.status, r.code, r.host = 403, CodeNumericHost, clip(te.Text, maxName)
			r.what = r.host + " is a number, and not the usual spelling of an address"
		}
	}
	return r
}

// sameHost compares the Host of a CONNECT request with its target. Missing
// and empty pass, since the target alone decides; another host is a request
// that means two things.
func sameHost(host string, t Target) bool {
	if host == "" {
		return true
	}
	h, err := parseTarget(host, t.Port)
	return err == nil && h == t
}

func isEOF(err error) bool     { return errors.Is(err, io.EOF) }
func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// endOf names the cause with which ctx ended, or def.
func endOf(ctx context.Context, def string) string {
	switch {
	case errors.Is(context.Cause(ctx), errNoLonger):
		return EndDenied
	case ctx.Err() != nil:
		return EndStopped
	}
	return def
}
