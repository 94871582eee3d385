package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// upgrade passes a WebSocket handshake whole: the origin's 101 makes the
// connection a tunnel, any other answer is an answer and ends it.
func (c *client) upgrade(x *exchange, path string) {
	if x.head.hasBody() {
		c.refuse(x, &refusal{status: 501, code: CodeUnsupported, what: "an upgrade with a body"})
		return
	}
	req, err := x.upgradeRequest(c.ctx, path)
	var r *refusal
	if errors.As(err, &r) {
		c.refuse(x, r)
		return
	}
	if err != nil {
		c.refuse(x, targetRefusal(err))
		return
	}
	w := c.watchEarly()
	o, resp, back, err := c.ask(w.ctx, x, req)
	end := ""
	if err == nil && resp.StatusCode != http.StatusSwitchingProtocols {
		_, end = c.respond(x, resp, true)
	}
	if o != nil {
		defer o.Close()
		o.stop() // from here on the tunnel's end is its own
	}
	early, gone := w.stop()
	switch {
	case err != nil:
		c.failed(x, err, gone)
	case gone:
		c.report(x, CodeClientLeft, EndClient)
	case end != "":
		c.report(x, "", endOf(c.ctx, end))
	default:
		c.switchOver(x, resp, o.Conn, early, back)
	}
}

// ask sends the handshake and reads the head of the answer; ctx ends that.
func (c *client) ask(ctx context.Context, x *exchange, req *http.Request) (*origin, *http.Response, *bufio.Reader, error) {
	up, err := c.p.reach(ctx, x.trip, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	if up, err = c.secure(ctx, x, up); err != nil {
		return nil, nil, nil, upstreamFault(x.trip, err)
	}
	o := newOrigin(ctx, up, c.b.Idle)
	resp, back, err := shake(o, req)
	if err != nil {
		err = upstreamFault(x.trip, err)
	}
	return o, resp, back, err
}

func (x *exchange) upgradeRequest(ctx context.Context, path string) (*http.Request, error) {
	req, err := x.request(ctx, path)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	return req, nil
}

// secure speaks TLS to a host that gets credentials.
func (c *client) secure(ctx context.Context, x *exchange, up net.Conn) (net.Conn, error) {
	if len(x.credentials) == 0 {
		return up, nil
	}
	config := c.p.tlsConfig()
	config.ServerName = x.trip.target.Name
	t := tls.Client(up, config)
	ctx, cancel := context.WithTimeout(ctx, c.b.Dial)
	defer cancel()
	if err := t.HandshakeContext(ctx); err != nil {
		up.Close()
		return nil, err
	}
	return t, nil
}

// shake sends the handshake and reads the head of the answer, at most 256 KiB
// of it.
func shake(up net.Conn, req *http.Request) (*http.Response, *bufio.Reader, error) {
	if err := req.Write(up); err != nil {
		return nil, nil, err
	}
	limit := &io.LimitedReader{R: up, N: 256 << 10}
	r := bufio.NewReaderSize(limit, 4<<10)
	for {
		resp, err := http.ReadResponse(r, req)
		if err != nil {
			return nil, nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			limit.N = 1<<63 - 1
			return resp, r, nil
		}
	}
}

func (c *client) switchOver(x *exchange, resp *http.Response, up net.Conn, early []byte, back *bufio.Reader) {
	header := clientHeader(resp.Header)
	header.Set("Connection", "Upgrade")
	header.Set("Upgrade", "websocket")
	w := bufio.NewWriterSize(&timedWriter{c.conn, c.b.Idle}, 4<<10)
	fmt.Fprintf(w, "HTTP/1.1 101 %s\r\n", phraseOf(resp))
	header.Write(w)
	io.WriteString(w, "\r\n")
	if err := w.Flush(); err != nil {
		c.report(x, CodeClientLeft, EndClient)
		return
	}
	c.conn.SetWriteDeadline(time.Time{})
	up.SetDeadline(time.Time{})
	first := make([]byte, back.Buffered())
	io.ReadFull(back, first)
	t := c.opened(up)
	t.early, t.back = early, first
	end := c.through(t)
	x.ev.Sent, x.ev.Received = t.sent.Load(), t.received.Load()
	c.report(x, "", end)
}
