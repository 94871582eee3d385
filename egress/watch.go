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
const resetLook = 40 * time.Millisecond

// past unblocks a read that is under way.
var past = time.Unix(1, 0)

// earlyWatch reads what a client sends while its host is looked up and
// dialled, and notices when it leaves. A reset ends both. An end without any
// byte ends the dial only: a verdict on the name is still an answer, a tunnel
// is not. Bytes and then an end are a client that waits for its answer. It
// begins when this has taken long enough.
type earlyWatch struct {
	ctx      context.Context // of look-up and dial
	out      *lookout
	conn     net.Conn
	end      context.CancelCauseFunc
	early    []byte
	gone     bool // reset, nobody is there to be answered
	stopping chan struct{}
	done     chan struct{}

	mu      sync.Mutex
	dialing bool
	ended   bool // without any byte
}

func (c *client) watchEarly() *earlyWatch {
	w := &earlyWatch{out: &c.p.lookout, conn: c.conn, early: c.buffered(), stopping: make(chan struct{}), done: make(chan struct{})}
	w.ctx, w.end = context.WithCancelCause(c.ctx)
	w.out.add(w)
	return w
}

// dials is told that the look-up is over.
func (w *earlyWatch) dials() { w.leave(func() { w.dialing = true }) }

// leave ends a dial whose client has ended, whichever came first.
func (w *earlyWatch) leave(note func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	note()
	if w.dialing && w.ended {
		w.end(errClientLeft)
	}
}

func (w *earlyWatch) read() {
	defer close(w.done)
	err := w.readEarly()
	if isEOF(err) && len(w.early) == 0 {
		w.leave(func() { w.ended = true })
	}
	if broke(err) || awaitReset(w.conn, w.stopping) {
		w.gone = true
		w.end(errClientLeft)
	}
}

func (w *earlyWatch) readEarly() error {
	buf := make([]byte, 4<<10)
	for len(w.early) < earlyMax {
		n, err := w.conn.Read(buf)
		w.early = append(w.early, buf[:n]...)
		if err != nil {
			return err
		}
	}
	return nil
}

// broke is true for a read that tells of a connection broken off, rather than
// of its plain end or of a deadline.
func broke(err error) bool { return err != nil && !isEOF(err) && !isTimeout(err) }

// awaitReset looks until the client has reset the connection (true) or stop
// is closed.
func awaitReset(conn net.Conn, stop <-chan struct{}) bool {
	if isClosed(stop) {
		return false
	}
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

// stop ends the watch and gives what had been read, in order and once.
func (w *earlyWatch) stop() (early []byte, gone bool) {
	if !w.out.remove(w) {
		close(w.stopping)
		w.conn.SetReadDeadline(past)
		<-w.done
		w.conn.SetReadDeadline(time.Time{})
	}
	w.end(nil)
	return w.early, w.gone
}

// requestWatch ends a plain request whose client resets: it looks as long as
// the body is on its way, since that may wait unread, and reads afterwards. It
// leaves bytes that come in the reader, and takes a plain end for a client that
// still reads.
type requestWatch struct {
	c     *client
	reset context.CancelCauseFunc

	mu       sync.Mutex
	taken    chan struct{} // closed when the request has been read to its end
	stopping chan struct{}
	done     chan struct{}
}

func (c *client) newRequestWatch(reset context.CancelCauseFunc) *requestWatch {
	return &requestWatch{c: c, reset: reset, taken: make(chan struct{}), stopping: make(chan struct{}), done: make(chan struct{})}
}

func (w *requestWatch) run() {
	defer close(w.done)
	if awaitReset(w.c.conn, w.taken) || w.readReset() || awaitReset(w.c.conn, w.stopping) {
		w.reset(errClientLeft)
	}
}

func (w *requestWatch) readReset() bool {
	if isClosed(w.stopping) {
		return false
	}
	_, err := w.c.r.Peek(1)
	return broke(err)
}

// take says that nobody else reads from the client any more.
func (w *requestWatch) take() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !isClosed(w.taken) {
		w.c.conn.SetReadDeadline(time.Time{})
		close(w.taken)
	}
}

// stop waits until nobody reads from the client. Whoever reads the body has
// ended.
func (w *requestWatch) stop() {
	w.take()
	close(w.stopping)
	w.c.conn.SetReadDeadline(past)
	<-w.done
	w.c.conn.SetReadDeadline(time.Time{})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
