package egress

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// errClientLeft is the cause with which a client's departure ends a dial.
var errClientLeft = errors.New("the client left")

// earlyMax bounds what a client may send before its tunnel is open; then the
// proxy stops reading, and the client's system makes it wait.
const earlyMax = 32 << 10

// resetLook is how often a client that is not read from is looked at.
const resetLook = 50 * time.Millisecond

// past unblocks a read that is under way.
var past = time.Unix(1, 0)

// earlyWatch reads what a client sends while its host is looked up and
// dialled, and notices when it leaves. A reset ends both. An end without any
// byte ends the dial only: a verdict on the name is still an answer, a tunnel
// is not. Bytes and then an end are a client that waits for its answer.
type earlyWatch struct {
	conn         net.Conn
	lookup, dial context.Context
	reset, leave context.CancelCauseFunc
	early        []byte
	gone         bool // reset, nobody is there to be answered
	stopping     chan struct{}
	done         chan struct{}
}

func watchEarly(ctx context.Context, conn net.Conn, early []byte) *earlyWatch {
	w := &earlyWatch{conn: conn, early: early, stopping: make(chan struct{}), done: make(chan struct{})}
	w.lookup, w.reset = context.WithCancelCause(ctx)
	w.dial, w.leave = context.WithCancelCause(w.lookup)
	go w.read()
	return w
}

func (w *earlyWatch) read() {
	defer close(w.done)
	buf := make([]byte, 4<<10)
	for len(w.early) < earlyMax {
		n, err := w.conn.Read(buf)
		w.early = append(w.early, buf[:n]...)
		if err != nil {
			w.end(err)
			return
		}
	}
	if awaitReset(w.conn, w.stopping) {
		w.gone = true
		w.reset(errClientLeft)
	}
}

// awaitReset looks until the client has reset the connection (true) or stop
// is closed.
func awaitReset(conn net.Conn, stop <-chan struct{}) bool {
	tick := time.NewTicker(resetLook)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return false
		case <-tick.C:
			if wasReset(conn) {
				return true
			}
		}
	}
}

// duringDial ends a dial when the client resets while its body waits unread.
// The function that it gives ends the watch.
func duringDial(conn net.Conn, reset context.CancelCauseFunc) (stop func()) {
	stopping, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if awaitReset(conn, stopping) {
			reset(errClientLeft)
		}
	}()
	return func() { close(stopping); <-done }
}

func (w *earlyWatch) end(err error) {
	switch {
	case isTimeout(err): // stop
	case !isEOF(err):
		w.gone = true
		w.reset(errClientLeft)
	case len(w.early) == 0:
		w.leave(errClientLeft)
	}
}

// stop ends the watch and gives what had been read, in order and once.
func (w *earlyWatch) stop() (early []byte, gone bool) {
	close(w.stopping)
	w.conn.SetReadDeadline(past)
	<-w.done
	w.conn.SetReadDeadline(time.Time{})
	w.leave(nil)
	w.reset(nil)
	return w.early, w.gone
}

// idleWatch notices a reset of a client whose request has been read to its
// end. It leaves bytes that come in the reader, and takes a plain end for a
// client that still reads.
type idleWatch struct {
	c     *client
	reset context.CancelCauseFunc

	mu      sync.Mutex
	stopped bool
	done    chan struct{}
}

func (w *idleWatch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.done != nil {
		return
	}
	w.done = make(chan struct{})
	w.c.conn.SetReadDeadline(time.Time{})
	go w.read()
}

func (w *idleWatch) read() {
	defer close(w.done)
	if _, err := w.c.r.Peek(1); err != nil && !isEOF(err) && !isTimeout(err) {
		w.reset(errClientLeft)
	}
}

// stop waits until nobody reads from the client.
func (w *idleWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.done != nil {
		w.c.conn.SetReadDeadline(past)
		<-w.done
	}
	w.c.conn.SetReadDeadline(time.Time{})
}
