package egress

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

// client is one connection from inside.
type client struct {
	p         *Proxy
	b         Bounds
	ctx       context.Context // ends with the proxy, or with the rule
	conn      net.Conn
	full      bool // there are too many
	r         *bufio.Reader
	transport *http.Transport
	lastPin   pinKey
	passage   *passage // once a tunnel is open

	end     context.CancelCauseFunc // of ctx
	allowed atomic.Pointer[trip]    // where it goes at present
	tunnel  atomic.Pointer[tunnel]  // that is open
}

func (c *client) leave() {
	c.conn.Close()
	c.end(nil)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	delete(c.p.clients, c)
	c.p.wg.Done()
}

// stop ends everything that the client has, for a cause.
func (c *client) stop(cause error) {
	c.end(cause)
	go c.cut() // a listener's connections are its own, and may take their time
}

func (c *client) cut() {
	if t := c.tunnel.Load(); t != nil { // first: closing may take its time
		t.abort(EndStopped)
	}
	c.conn.Close()
}

// through passes bytes until both sides are done, and says how that ended.
func (c *client) through(t *tunnel) string {
	c.tunnel.Store(t)
	if c.ctx.Err() != nil { // stopped before, with no tunnel to abort
		c.cut()
	}
	return endOf(c.ctx, t.run(c.ctx))
}

// run serves a connection to its end, or until it is a tunnel. That goes on by
// itself, with stacks of its own that are small: it may live for days.
func (c *client) run() {
	c.serve()
	if c.passage != nil {
		go c.carry()
		return
	}
	c.leave()
}

// serve answers requests until one has become a tunnel, or the last one.
func (c *client) serve() {
	c.r = readers.Get().(*bufio.Reader)
	c.r.Reset(c.conn)
	defer c.dropReader()
	if c.full && c.p.Secret == "" { // whoever has to show one learns that first
		c.refuse(c.begin(&head{}), tooMany())
		return
	}
	defer c.dropTransport()
	for first := true; c.serveOne(first); first = false {
	}
}

func tooMany() *refusal {
	return &refusal{status: 503, code: CodeTooManyConnection, what: "too many connections at once"}
}

// dropReader gives the buffer back; a tunnel does so before it idles.
func (c *client) dropReader() {
	if c.r != nil {
		c.r.Reset(nil)
		readers.Put(c.r)
		c.r = nil
	}
}

// serveOne answers one request and says whether another may follow.
func (c *client) serveOne(first bool) bool {
	h, err := c.readHead(first)
	x := c.begin(h)
	var f *fault
	switch {
	case errors.As(err, &f) && first && c.p.Secret != "": // whoever did not show the secret yet learns nothing of how requests are read
		c.refuse(x, noSecret())
		return false
	case f != nil:
		c.refuse(x, &refusal{status: f.status, code: f.code, what: f.what})
		return false
	case err != nil: // gone without a request, or reset within one
		return false
	case !c.p.knows(h):
		c.refuse(x, noSecret())
		return false
	case c.full:
		c.refuse(x, tooMany())
		return false
	case h.method == "CONNECT":
		c.connect(x)
		return false
	}
	return c.forward(x)
}

func (c *client) readHead(first bool) (*head, error) {
	if !first {
		c.conn.SetReadDeadline(time.Now().Add(c.b.Idle))
		if _, err := c.r.Peek(1); err != nil {
			return &head{}, errNoRequest
		}
	}
	c.conn.SetReadDeadline(time.Now().Add(c.b.HeadTime))
	h, err := readHead(c.r, c.b)
	if err == nil {
		c.conn.SetReadDeadline(time.Time{})
	}
	return h, err
}

// buffered takes what the client sent behind the head and gives the reader
// back to the pool.
func (c *client) buffered() []byte {
	early := make([]byte, c.r.Buffered())
	io.ReadFull(c.r, early)
	c.dropReader()
	return early
}

// exchange is one tunnel or request on its way to an Event.
type exchange struct {
	head *head
	ev   Event
	trip *trip

	credentials []Credential // with any, the host is spoken to in TLS
}

func (c *client) begin(h *head) *exchange {
	return &exchange{head: h, ev: Event{Time: time.Now(), Method: h.method}}
}

// report tells the event; it is called once per exchange.
func (c *client) report(x *exchange, code, end string) {
	if code != "" {
		x.ev.Code = code
	}
	x.ev.End = end
	c.allowed.Store(nil)
	if x.trip != nil {
		x.trip.fill(&x.ev)
	}
	if c.p.Event != nil {
		c.p.Event(x.ev)
	}
}
