package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// maxOutstanding bounds dials that wait for a port: five channels of at most 256 connections, and some.
const maxOutstanding = 2048

// Handoff is the Link of a sandbox that runs on the same machine: sockets are opened inside and their descriptors handed out.
type Handoff struct {
	conn    *Conn
	hello   chan struct{}
	started chan struct{}
	done    chan struct{} // closed when the link has ended; exit and err are set before

	mu      sync.Mutex
	next    uint32
	pending map[uint32]*request
	heard   bool // hello
	running bool
	exit    *Exit
	err     error
}

type request struct {
	kind  Kind
	port  int
	reply chan answer // one answer, buffered: nobody may be waiting any more
}

type answer struct {
	file *os.File
	err  error
}

// NewHandoff serves conn until it ends. Done tells when.
func NewHandoff(conn *Conn) *Handoff {
	h := &Handoff{
		conn: conn, hello: make(chan struct{}), started: make(chan struct{}), done: make(chan struct{}),
		pending: map[uint32]*request{},
	}
	go h.serve()
	return h
}

func (h *Handoff) serve() {
	err := h.receive()
	h.mu.Lock()
	h.err = err
	h.mu.Unlock()
	h.conn.Close() // after err: a send that fails by this asks for the cause
	h.mu.Lock()
	for id, r := range h.pending {
		r.reply <- answer{err: causeOf(err)}
		delete(h.pending, id)
	}
	close(h.done) // under the lock: register must not add a question that nobody will answer
	h.mu.Unlock()
}

func (h *Handoff) receive() error {
	for {
		m, f, err := h.conn.Receive()
		if err != nil {
			return err
		}
		if err := h.handle(m, f); err != nil {
			return err
		}
	}
}

func (h *Handoff) handle(m Message, f *os.File) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.heard && m.Kind != Hello {
		return closing(f, &ProtocolError{fmt.Sprintf("%q came before hello", m.Kind)})
	}
	switch m.Kind {
	case Hello:
		return h.hear(m)
	case Listening, Dialed:
		return h.answer(m, f)
	case Started:
		if h.running || h.exit != nil {
			return &ProtocolError{"started came twice"}
		}
		h.running = true
		close(h.started)
	case Exited:
		if !h.running || h.exit != nil {
			return &ProtocolError{"exited came without started"}
		}
		h.exit = &Exit{Status: m.Status, Signal: m.Signal}
	case Failed:
		if h.running || h.exit != nil {
			return &ProtocolError{"failed came after started"}
		}
		h.exit = &Exit{Failed: &FailedError{Stage: m.Stage, Text: m.Text, Status: m.Status}}
	default:
		return closing(f, &ProtocolError{fmt.Sprintf("unknown message %q", m.Kind)})
	}
	return nil
}

func (h *Handoff) hear(m Message) error {
	if h.heard {
		return &ProtocolError{"hello came twice"}
	}
	if m.Version != Version {
		return &ProtocolError{fmt.Sprintf("the inside speaks version %d, this launcher %d", m.Version, Version)}
	}
	h.heard = true
	close(h.hello)
	return nil
}

// answer gives the socket to whoever asked. One that nobody asked for ends the link: a flood of descriptors must not fill this process.
func (h *Handoff) answer(m Message, f *os.File) error {
	r := h.pending[m.ID]
	if r == nil || (m.Kind == Listening) != (r.kind == Listen) {
		return closing(f, &ProtocolError{fmt.Sprintf("an answer %q to a question that was not asked", m.Kind)})
	}
	if f == nil && m.Text == "" {
		return &ProtocolError{fmt.Sprintf("an answer %q with nothing in it", m.Kind)}
	}
	if f != nil {
		if err := check(f, r.port, r.kind == Listen); err != nil {
			return closing(f, err) // the question stays: the end of the link answers it
		}
	}
	delete(h.pending, m.ID)
	if f == nil {
		r.reply <- answer{err: errors.New(m.Text)}
		return nil
	}
	r.reply <- answer{file: f}
	return nil
}

func closing(f *os.File, err error) error {
	if f != nil {
		f.Close()
	}
	return err
}

// Hello waits until the inside runs.
func (h *Handoff) Hello(ctx context.Context) error { return h.wait(ctx, h.hello) }

// Start sends the order and waits until the program runs. A FailedError says why it does not.
func (h *Handoff) Start(ctx context.Context, o Order) error {
	if err := h.conn.SendOrder(o); err != nil {
		if errors.Is(err, net.ErrClosed) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
			return h.cause()
		}
		return err
	}
	err := h.wait(ctx, h.started)
	if exit, _ := h.Exit(); err != nil && exit != nil && exit.Failed != nil {
		return exit.Failed
	}
	return err
}

func (h *Handoff) wait(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.done:
		select {
		case <-c: // both: it began, and ended since
			return nil
		default:
			return h.cause()
		}
	}
}

// Done is closed when the inside has gone.
func (h *Handoff) Done() <-chan struct{} { return h.done }

// Exit is how the program ended, as far as the inside could still say it; the error is how the link did (io.EOF is the ordinary way).
func (h *Handoff) Exit() (*Exit, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.exit, h.err
}

func (h *Handoff) cause() error {
	_, err := h.Exit()
	return causeOf(err)
}

func causeOf(err error) error {
	var p *ProtocolError
	if errors.As(err, &p) {
		return p
	}
	return ErrClosed
}

// Close ends the link; the inside then ends everything in the sandbox.
func (h *Handoff) Close() error { return h.conn.Close() }

// Listen implements Link.
func (h *Handoff) Listen(ctx context.Context, port int) (net.Listener, error) {
	return h.Listening(port)(ctx)
}

// Listening is Listen that has asked when it returns, and does not wait for the answer. The inside does one thing after the other: what is sent from now on,
// the order too, finds the port open.
func (h *Handoff) Listening(port int) (answer func(context.Context) (net.Listener, error)) {
	id, r, err := h.question(Listen, port)
	return func(ctx context.Context) (net.Listener, error) {
		if err != nil {
			return nil, fmt.Errorf("listen on port %d inside: %w", port, err)
		}
		return h.listener(ctx, id, r)
	}
}

func (h *Handoff) listener(ctx context.Context, id uint32, r *request) (net.Listener, error) {
	f, err := h.await(ctx, id, r)
	if err != nil {
		return nil, fmt.Errorf("listen on port %d inside: %w", r.port, err)
	}
	defer f.Close()
	return net.FileListener(f)
}

// Dial implements Link.
func (h *Handoff) Dial(ctx context.Context, port int) (net.Conn, error) {
	id, r, err := h.question(Dial, port)
	var f *os.File
	if err == nil {
		f, err = h.await(ctx, id, r)
	}
	if err != nil {
		return nil, fmt.Errorf("dial port %d inside: %w", port, err)
	}
	defer f.Close()
	return net.FileConn(f)
}

// Signal implements Link.
func (h *Handoff) Signal(number int) error {
	return h.conn.Send(Message{Kind: Signal, Number: number})
}

// Resize sets the size of the program's terminal, which the program hears of by SIGWINCH. Without a terminal nothing happens.
func (h *Handoff) Resize(rows, cols uint16) error {
	return h.conn.Send(Message{Kind: Resize, Rows: rows, Cols: cols})
}

// question asks for a socket.
func (h *Handoff) question(kind Kind, port int) (uint32, *request, error) {
	id, r, err := h.register(kind, port)
	if err != nil {
		return 0, nil, err
	}
	if err := h.conn.Send(Message{Kind: kind, ID: id, Port: port}); err != nil {
		return 0, nil, h.cause()
	}
	return id, r, nil
}

// await waits for the answer to a question.
func (h *Handoff) await(ctx context.Context, id uint32, r *request) (*os.File, error) {
	select {
	case a := <-r.reply:
		return a.file, a.err
	case <-ctx.Done():
	}
	// The question stays registered until its answer comes, which may already be on its way with a socket.
	h.conn.Send(Message{Kind: Cancel, ID: id})
	go func() {
		if a := <-r.reply; a.file != nil {
			a.file.Close()
		}
	}()
	return nil, context.Cause(ctx)
}

func (h *Handoff) register(kind Kind, port int) (uint32, *request, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.done:
		return 0, nil, causeOf(h.err)
	default:
	}
	if len(h.pending) >= maxOutstanding {
		return 0, nil, fmt.Errorf("%d connections already wait for the program", len(h.pending))
	}
	h.next++
	r := &request{kind: kind, port: port, reply: make(chan answer, 1)}
	h.pending[h.next] = r
	return h.next, r, nil
}
