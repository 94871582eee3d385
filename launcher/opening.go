package launcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
)

// maxPortClients is how many connections one opening takes at once.
const maxPortClients = 256

// serviceTime is how long a service of the host may take to answer.
const serviceTime = 10 * time.Second

// nobodyTime is enough for a program that has just been started to come up.
const nobodyTime = 5 * time.Second

// opening is one port that is open, or would be if somebody else had not taken it.
type opening struct {
	Port
	since    time.Time
	listener net.Listener    // nil when problem says why there is none
	life     context.Context // its connections end with it
	cancel   context.CancelFunc
	problem  string
	slots    chan struct{}
	now      atomic.Int64
	told     atomic.Bool // that nobody answers
}

// newOpening belongs to life at most.
func newOpening(life context.Context, p Port, l net.Listener) *opening {
	o := &opening{Port: p, since: time.Now().UTC(), listener: l, slots: make(chan struct{}, maxPortClients)}
	o.life, o.cancel = context.WithCancel(life)
	if l != nil {
		context.AfterFunc(o.life, func() { l.Close() })
	}
	return o
}

// close frees the port at once, and ends what is connected through it.
func (o *opening) close() {
	if o.listener != nil {
		o.listener.Close()
	}
	o.cancel()
}

func (o *opening) open() OpenPort {
	n := int(o.now.Load())
	return OpenPort{Port: o.Port.Port, Host: o.Host, HostPort: o.HostPort, Since: o.since, Connections: &n, Problem: o.problem}
}

// listenHost takes a port of this machine's loopback, and of no other address that it has.
func listenHost(ctx context.Context, p Port) (net.Listener, *PortError) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	l, err := c.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(p.HostPort))))
	if err != nil {
		return nil, p.hostFault(err)
	}
	return l, nil
}

// hostFault tells a port that somebody has from one that this user may not have.
func (p Port) hostFault(err error) *PortError {
	why := CauseTaken
	if errors.Is(err, fs.ErrPermission) {
		why = CauseLow
	}
	return p.fault(why, "port %d of this machine cannot be had: %v", p.HostPort, cause(err))
}

// cause is what a call of the network met, without the address that is said beside it.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

// carrier joins the connections of openings with their other ends.
type carrier struct {
	here     *current
	say      func(format string, args ...any)
	event    func(egress.Event) // told of every connection when it is over
	patience time.Duration      // how long a client of a published port is held while nothing listens there inside
	waiting  chan struct{}      // clients of published ports for which nothing listens yet, all ports together: the kernel's channels dial through the same link
	wait     sync.WaitGroup
}

func (c *carrier) serve(o *opening) {
	c.wait.Go(func() {
		accept(o.listener, o.slots, func(near net.Conn) { c.carry(o, near) }, func() {
			c.record(o, egress.Event{Time: time.Now(), Verdict: egress.Deny, Code: egress.CodeTooManyConnection, End: egress.EndRefused})
		})
	})
}

// carry joins near, which came in at the opening, with its other end.
func (c *carrier) carry(o *opening, near net.Conn) {
	defer near.Close()
	o.now.Add(1)
	defer o.now.Add(-1)
	e := egress.Event{Time: time.Now(), Verdict: egress.Allow, Code: egress.CodeAllowed}
	far, life, err := c.reach(o)
	e.Dial = time.Since(e.Time)
	if err != nil {
		e.Code, e.End = unreached(o.life, err)
		c.unanswered(o, err)
		reset(near)
		c.record(o, e)
		return
	}
	o.told.Store(false)
	defer far.Close()
	for _, ends := range []context.Context{o.life, life} {
		defer context.AfterFunc(ends, func() { near.Close(); far.Close() })()
	}
	there, back, broke := both(near, far)
	e.Sent, e.Received = there, back
	if o.Way == Published {
		e.Sent, e.Received = back, there
	}
	e.End = ending(broke, near, o.life.Err() != nil || life.Err() != nil)
	c.record(o, e)
}

// unreached says why there is no connection, in the words of the proxy.
func unreached(life context.Context, err error) (code, end string) {
	var name *net.DNSError
	var late net.Error
	switch {
	case life.Err() != nil:
		return egress.CodeStopped, egress.EndStopped
	case errors.As(err, &name) && name.IsNotFound:
		return egress.CodeNoAddress, egress.EndFailed
	case errors.As(err, &name) && name.IsTimeout:
		return egress.CodeLookupTimeout, egress.EndFailed
	case errors.As(err, &name):
		return egress.CodeLookupFailed, egress.EndFailed
	case errors.As(err, &late) && late.Timeout():
		return egress.CodeDialTimeout, egress.EndFailed
	}
	return egress.CodeDialFailed, egress.EndFailed
}

func ending(broke, near net.Conn, stopped bool) string {
	switch {
	case stopped:
		return egress.EndStopped
	case broke == nil:
		return egress.EndClosed
	case broke == near:
		return egress.EndClient
	}
	return egress.EndUpstream
}

// reach dials the other end. The connection ends with the context as well.
func (c *carrier) reach(o *opening) (net.Conn, context.Context, error) {
	if o.Way == Published {
		return c.inside(o)
	}
	d := net.Dialer{Timeout: serviceTime}
	d.SetMultipathTCP(false)
	far, err := d.DialContext(o.life, "tcp", o.outside())
	return far, o.life, err
}

// errNobody is what a client of a published port met.
var errNobody = errors.New("nothing listens there")

func (c *carrier) inside(o *opening) (net.Conn, context.Context, error) {
	select {
	case c.waiting <- struct{}{}:
		defer func() { <-c.waiting }()
	default:
		return nil, nil, errNobody
	}
	ctx, cancel := context.WithTimeoutCause(o.life, c.patience, errNobody)
	defer cancel()
	l, life, ok := c.here.attached(ctx.Done())
	if !ok {
		return nil, nil, errNobody
	}
	far, err := l.Dial(ctx, int(o.Port.Port))
	return far, life, err
}

// unanswered tells the user, once until one answers. A browser says by itself that nothing listens at a published port.
func (c *carrier) unanswered(o *opening, err error) {
	if o.Way == Forwarded && o.life.Err() == nil && !o.told.Swap(true) {
		c.say("forward %s: %s does not answer: %v", o.Port, o.outside(), cause(err))
	}
}

// record tells of one connection as the egress proxy does of a tunnel.
func (c *carrier) record(o *opening, e egress.Event) {
	if c.event == nil {
		return
	}
	e.Method, e.Host, e.Port, e.Rule = "FORWARD", o.Host, o.HostPort, fmt.Sprintf("%s %s", o.Way, o.Port)
	if o.Way == Published {
		e.Method = "PUBLISH"
	}
	c.event(e)
}

// reset shows the other side that it was refused, where a plain end would look like an empty answer.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}
