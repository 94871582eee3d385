package jupyter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

const (
	redialAfter  = 20 * time.Millisecond
	maxHandshake = 8 << 10 // bytes of the peer's READY command
)

// wire is one ZeroMQ connection. It stands on zmq4's connections and not on its sockets: those dial without a context, allocate what a
// peer announces, end the process when a peer names an unknown socket type, and can block in Close.
type wire struct {
	channel Channel
	guard   *guard
	conn    *zmq4.Conn
	sending chan struct{} // holds one token while nobody sends

	seen     chan struct{} // closed by the first message that came with a right signature
	seenOnce sync.Once

	lost     chan struct{} // closed once the connection is unusable; err is set before
	lostOnce sync.Once
	err      error
}

var errSilent = errors.New("connected, but no kernel answered")

// LostError is returned when the connection to a channel broke or the kernel closed it.
type LostError struct {
	Channel  Channel
	Endpoint string
	Err      error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("connection to the %s channel (%s) lost: %v", e.Channel, e.Endpoint, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// DialError is returned when a channel could not be reached before the context ended. Err is what the last attempt met.
type DialError struct {
	Channel  Channel
	Endpoint string
	Cause    error // why the attempts ended
	Err      error
}

func (e *DialError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s channel (%s): %v", e.Channel, e.Endpoint, e.Cause)
	}
	return fmt.Sprintf("%s channel (%s): %v: %v", e.Channel, e.Endpoint, e.Cause, e.Err)
}

func (e *DialError) Unwrap() []error { return []error{e.Cause, e.Err} }

// dialWire tries until the kernel has answered the handshake or ctx ends.
func dialWire(ctx context.Context, c *Connection, ch Channel, identity string) (*wire, error) {
	var last error
	for {
		began := time.Now()
		w, err := openWire(ctx, c, ch, identity)
		if err == nil {
			return w, nil
		}
		if last == nil || !cutShort(err, time.Since(began)) {
			last = err
		}
		select {
		case <-ctx.Done():
			return nil, &DialError{ch, c.Endpoint(ch), context.Cause(ctx), last}
		case <-time.After(redialAfter):
		}
	}
}

// cutShort says whether an attempt ended because ctx did, and so soon that the attempt before it tells more.
func cutShort(err error, after time.Duration) bool {
	var timeout net.Error
	cut := errors.Is(err, errSilent) || errors.Is(err, context.Canceled) || errors.As(err, &timeout) && timeout.Timeout()
	return cut && after < 100*time.Millisecond
}

func openWire(ctx context.Context, c *Connection, ch Channel, identity string) (*wire, error) {
	network, address := c.Address(ch)
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	g := &guard{Conn: nc, in: bufio.NewReaderSize(nc, 64<<10), out: bufio.NewWriterSize(nc, 64<<10), greeting: zmtpGreeting}
	zc, err := handshake(g, ch, identity)
	if !stop() {
		err = errSilent
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	w := &wire{channel: ch, guard: g, conn: zc, sending: make(chan struct{}, 1), seen: make(chan struct{}), lost: make(chan struct{})}
	w.sending <- struct{}{}
	return w, nil
}

// handshake speaks as a DEALER, or as a SUB with a subscription to everything. zmq4 panics on some malformed answers.
func handshake(g *guard, ch Channel, identity string) (zc *zmq4.Conn, err error) {
	defer recoverAs(&err)
	kind, id := zmq4.Dealer, zmq4.SocketIdentity(identity)
	if ch == IOPub {
		kind, id = zmq4.Sub, nil
	}
	zc, err = zmq4.Open(g, null.Security(), kind, id, false, nil)
	if err != nil {
		return nil, err
	}
	g.ready()
	if ch == IOPub {
		if err := zc.SendMsg(zmq4.NewMsg([]byte{1})); err != nil {
			return nil, err
		}
		return zc, g.flush()
	}
	return zc, nil
}

func recoverAs(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("malformed ZMTP from the peer: %v", r)
	}
}

// send writes one message. A message that was written in part makes the stream unreadable, so a failure ends the connection.
func (w *wire) send(ctx context.Context, frames [][]byte) error {
	if ctx.Err() != nil { // nothing was written yet, so the connection stays
		return context.Cause(ctx)
	}
	select {
	case <-w.sending:
	case <-w.lost:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { w.sending <- struct{}{} }()
	stop := context.AfterFunc(ctx, func() { w.guard.SetWriteDeadline(time.Unix(1, 0)) })
	err := w.conn.SendMsg(zmq4.NewMsgFrom(frames...))
	if err == nil {
		err = w.guard.flush()
	}
	if !stop() || err != nil {
		w.fail(errors.Join(context.Cause(ctx), err))
		return w.err
	}
	return nil
}

// receive returns the frames of the next message.
func (w *wire) receive() (frames [][]byte, err error) {
	defer recoverAs(&err)
	msg, err := w.conn.RecvMsg()
	return msg.Frames, err
}

// fail records why the connection ended; the first reason counts.
func (w *wire) fail(err error) {
	w.lostOnce.Do(func() {
		w.err = &LostError{w.channel, w.guard.RemoteAddr().String(), err}
		close(w.lost)
		w.guard.Close()
	})
}

func (w *wire) alive() bool {
	select {
	case <-w.lost:
		return false
	default:
		return true
	}
}
