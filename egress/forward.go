package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"time"
)

// pinKey tells whether a kept connection still leads where the rules say. Other
// rules may screen an address that these let pass.
type pinKey struct {
	rules  *Rules
	target Target
	pin    netip.AddrPort
	via    string
}

type tripContextKey struct{}

// forward judges one plain request, sends it on and brings the answer. It
// says whether another request may follow.
func (c *client) forward(x *exchange) bool {
	path, r := c.admitPlain(x)
	if r != nil {
		c.refuse(x, r)
		return false
	}
	if r := c.queuedConnect(x.head); r != nil {
		c.refuse(x, r)
		return false
	}
	x.trip.absolute = x.trip.front != nil && len(x.credentials) == 0 && x.head.upgrade != "websocket"
	if x.head.upgrade == "websocket" {
		c.upgrade(x, path)
		return false
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	x.trip.ctx = ctx
	w := c.newRequestWatch(cancel)
	b, err := c.newBody(x.head, w.take)
	if err == nil {
		return c.exchangePlain(ctx, x, path, b, w)
	}
	var f *fault
	if !errors.As(err, &f) {
		f = malformed("the body did not arrive")
	}
	c.refuse(x, &refusal{status: f.status, code: f.code, what: f.what})
	return false
}

// admitPlain judges the target of an absolute-form request.
func (c *client) admitPlain(x *exchange) (path string, r *refusal) {
	authority, path, err := cutAbsolute(x.head.method, x.head.target)
	if err != nil {
		return "", targetRefusal(err)
	}
	t, bare, err := plainTarget(authority)
	if err != nil {
		return "", targetRefusal(err)
	}
	if x.credentials = c.p.credentialsFor(t); len(x.credentials) > 0 {
		t = secured(t)
	}
	if r := c.judge(x, t); r != nil {
		return "", r
	}
	if !bare {
		return "", &refusal{status: 400, code: CodeMalformed, what: "a user in the target"}
	}
	return path, nil
}

// queuedConnect refuses a request behind which a CONNECT to a denied host is
// already waiting. No client queues a CONNECT behind an unanswered request;
// what does is out to ride on the first verdict.
func (c *client) queuedConnect(h *head) *refusal {
	if h.hasBody() || c.r.Buffered() == 0 {
		return nil
	}
	queued, _ := c.r.Peek(c.r.Buffered())
	line, _, ok := bytes.Cut(queued, []byte("\r\n"))
	target, isConnect := strings.CutPrefix(string(line), "CONNECT ")
	if !ok || !isConnect {
		return nil
	}
	target, _, _ = strings.Cut(target, " ")
	t, err := ParseAuthority(target)
	if err != nil {
		return targetRefusal(err)
	}
	_, r := c.p.judge(t)
	return r
}

func (c *client) exchangePlain(ctx context.Context, x *exchange, path string, b *body, w *requestWatch) bool {
	go w.run()
	resp, err := c.roundTrip(ctx, x, path, b)
	b.answer()
	if err != nil {
		c.plainFailed(ctx, x, b, w, err)
		return false
	}
	defer resp.Body.Close()
	// The answer to an unfinished upload is the last one on its connection,
	// and its head has to say so.
	keep, end := c.respond(x, resp, b.pending())
	sent, complete := b.finish()
	w.stop()
	x.ev.Sent = sent
	if errors.Is(context.Cause(ctx), errClientLeft) {
		end = EndClient
	}
	c.report(x, "", endOf(c.ctx, end))
	if !complete && end == EndClosed {
		drain(c.conn)
	}
	return keep && complete
}

func (c *client) roundTrip(ctx context.Context, x *exchange, path string, b *body) (*http.Response, error) {
	req, err := x.request(ctx, path)
	if err != nil {
		return nil, err
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { c.got(x.trip, i.Conn) }})
	req = req.WithContext(context.WithValue(ctx, tripContextKey{}, x.trip))
	b.attach(req, x.head)
	resp, err := c.way(x.trip).RoundTrip(req)
	if err == nil && x.trip.absolute && resp.StatusCode == http.StatusProxyAuthRequired {
		resp.Body.Close()
		return nil, x.trip.frontFault(ctx, &ProxyError{Proxy: x.trip.via(), Status: resp.StatusCode, Phrase: phraseOf(resp)})
	}
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body.Close()
		return nil, errUnasked
	}
	return resp, err
}

// request is what the host gets.
func (x *exchange) request(ctx context.Context, path string) (*http.Request, error) {
	t, scheme := x.trip.target, "http"
	if len(x.credentials) > 0 {
		scheme = "https"
	}
	u, err := originURL(scheme, t, path)
	if err != nil {
		return nil, err
	}
	req := &http.Request{
		Method: x.head.method, URL: u, Host: hostField(scheme, t), Header: x.head.upstreamHeader(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if x.trip.absolute {
		x.trip.address(req, path)
	}
	if r := x.stamp(ctx, req.Header); r != nil {
		return nil, r
	}
	return req, nil
}

var errUnasked = errors.New("the origin switched protocols unasked")

// way gives the transport of this client. Each client has its own, so that a
// connection to an origin is never shared, and one that was made before the
// rules changed is given up.
func (c *client) way(t *trip) *http.Transport {
	if c.transport == nil {
		c.transport = c.newTransport()
	}
	key := pinKey{t.rules, t.target, t.d.Pin, t.via()}
	if key != c.lastPin {
		c.transport.CloseIdleConnections()
		c.lastPin = key
	}
	return c.transport
}

func (c *client) newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            c.dialTrip,
		TLSClientConfig:        c.p.tlsConfig(),
		TLSHandshakeTimeout:    c.b.Dial,
		DisableCompression:     true,
		MaxIdleConns:           1,
		IdleConnTimeout:        min(c.b.Idle, time.Minute),
		ResponseHeaderTimeout:  c.b.Idle,
		ExpectContinueTimeout:  2 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		WriteBufferSize:        16 << 10,
		ReadBufferSize:         16 << 10,
	}
}

func (c *client) dropTransport() {
	if c.transport != nil {
		c.transport.CloseIdleConnections()
	}
}

// got tells a trip where the connection goes that it got: an earlier request
// may have dialled it.
func (c *client) got(t *trip, conn net.Conn) {
	if s, ok := conn.(*tls.Conn); ok {
		conn = s.NetConn()
	}
	if o, ok := conn.(*origin); ok {
		t.arrive(o.at)
	}
	if c.p.reviewed(t) != nil {
		c.stop(errNoLonger)
	}
}

func (c *client) dialTrip(ctx context.Context, _, _ string) (net.Conn, error) {
	t, ok := ctx.Value(tripContextKey{}).(*trip)
	if !ok {
		return nil, errNoRules
	}
	// The transport's own context outlives the request, and a dial for a
	// client that is gone would go on.
	conn, err := c.p.reach(t.ctx, t, nil)
	if err != nil {
		return nil, err
	}
	o := newOrigin(c.ctx, conn, c.b.Idle)
	o.at = t.arrived()
	return o, nil
}

// plainFailed answers for a request that brought no response.
func (c *client) plainFailed(ctx context.Context, x *exchange, b *body, w *requestWatch, err error) {
	x.ev.Sent, _ = b.finish()
	w.stop()
	var own *fault
	f := b.fault()
	switch {
	case errors.Is(context.Cause(ctx), errClientLeft):
		c.failed(x, err, true)
	case f != nil:
		c.refuse(x, &refusal{status: f.status, code: f.code, what: f.what})
	case errors.As(err, &own):
		c.refuse(x, &refusal{status: own.status, code: own.code, what: own.what})
	default:
		c.failed(x, upstreamFault(x.trip, err), false)
	}
}

// upstreamFault names a failure behind the connection; a refusal of the way
// there passes as it is. A plain request has a connection with the proxy in
// front and with nobody else, where there is one.
func upstreamFault(t *trip, err error) error {
	var r *refusal
	var ne net.Error
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &ne) && ne.Timeout() && t.absolute:
		return t.fail(504, CodeProxyFailed, "the proxy "+t.via()+" did not answer")
	case errors.As(err, &ne) && ne.Timeout():
		return t.fail(504, CodeUpstream, t.target.Host()+" did not answer")
	case t.absolute:
		return t.fail(502, CodeProxyFailed, "the proxy "+t.via()+" broke off, or its answer is not HTTP")
	}
	return t.fail(502, CodeUpstream, t.target.Host()+" broke off, or its answer is not HTTP")
}
