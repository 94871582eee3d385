package jupyter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
)

// ErrClosed is returned by what a closed client was asked for.
var ErrClosed = errors.New("jupyter client is closed")

// dialled are the channels that a client uses. The heartbeat is not among them: IRkernel does not answer it while a cell runs.
var dialled = []Channel{Shell, IOPub, Stdin, Control}

// Client is one client of a running kernel. Its methods may be called by several goroutines.
type Client struct {
	conn    *Connection
	signer  signer
	session string

	idleWait time.Duration // how long after its reply and its last output a kernel may take to say that it is idle

	connecting chan struct{} // holds one token while nobody connects

	mu      sync.Mutex
	wires   map[Channel]*wire
	waiting map[string]*queue // by the id of the request
	dropped int

	life    context.Context // ends when Close is called
	end     context.CancelFunc
	readers sync.WaitGroup
}

// PortError is returned for a connection whose port is 0: the kernel has not written the port that it chose into its file yet.
type PortError struct{ Channel Channel }

func (e *PortError) Error() string {
	return fmt.Sprintf("%s_port is 0: the kernel has not chosen it yet", e.Channel)
}

// Dial connects to the kernel's shell, iopub, stdin and control channels. A kernel that does not listen yet is tried again until ctx ends:
// give it a deadline. It does not wait for the kernel to answer; KernelInfo does.
func Dial(ctx context.Context, conn *Connection) (*Client, error) {
	s, err := newSigner(conn.Key, conn.SignatureScheme)
	if err != nil {
		return nil, err
	}
	for _, ch := range dialled {
		if conn.Port(ch) == 0 {
			return nil, &PortError{Channel: ch}
		}
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	c := &Client{
		conn: conn.Clone(), signer: s, session: uuid.NewString(), idleWait: 10 * time.Second, connecting: make(chan struct{}, 1),
		wires: map[Channel]*wire{}, waiting: map[string]*queue{}, life: life, end: end,
	}
	c.connecting <- struct{}{}
	if err := c.connect(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// connect dials the channels that have no usable connection: all at first, and those that a restarted kernel closed.
func (c *Client) connect(ctx context.Context) error {
	select {
	case <-c.connecting:
	case <-c.life.Done():
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { c.connecting <- struct{}{} }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(ErrClosed) })()
	return c.dialAll(ctx)
}

func (c *Client) dialAll(ctx context.Context) error {
	errs := make(chan error)
	n := 0
	for _, ch := range dialled {
		if w := c.wire(ch); w != nil && w.alive() {
			continue
		}
		n++
		go func() { errs <- c.dialOne(ctx, ch) }()
	}
	var all []error
	for range n {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

func (c *Client) dialOne(ctx context.Context, ch Channel) error {
	w, err := dialWire(ctx, c.conn, ch, c.session)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() != nil {
		w.fail(ErrClosed)
		return ErrClosed
	}
	c.wires[ch] = w
	c.readers.Go(func() { c.read(w) })
	return nil
}

func (c *Client) wire(ch Channel) *wire {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wires[ch]
}

// read hands each message to the request that it belongs to. A message that is wrongly signed or malformed is dropped, as if it had not come.
func (c *Client) read(w *wire) {
	for {
		frames, err := w.receive()
		if err != nil {
			w.fail(err)
			return
		}
		m, err := decode(frames, c.signer, c.conn.SignatureScheme)
		if err != nil {
			c.drop()
			continue
		}
		w.seenOnce.Do(func() { close(w.seen) })
		m.Channel = w.channel
		if q := c.waiter(m.Parent.ID); q != nil {
			q.push(m, c.life.Done())
		}
	}
}

func (c *Client) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped++
}

// Dropped returns how many messages were dropped because their signature was wrong or they could not be read.
func (c *Client) Dropped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped
}

func (c *Client) waiter(id string) *queue {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting[id]
}

// expect makes q the place for what belongs to the request id.
func (c *Client) expect(id string, q *queue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[id] = q
}

// forget ends what expect began, for all ids of q.
func (c *Client) forget(q *queue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, other := range c.waiting {
		if other == q {
			delete(c.waiting, id)
		}
	}
	close(q.done)
}

// send signs and sends a request on ch and returns its id; answers go to q.
func (c *Client) send(ctx context.Context, ch Channel, m Message, q *queue) error {
	frames, err := m.encode(c.signer)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Header.Type, err)
	}
	w := c.wire(ch)
	if w == nil {
		return ErrClosed
	}
	if q != nil {
		c.expect(m.Header.ID, q)
	}
	return w.send(ctx, frames)
}

// closeWait bounds Close. The readers end as soon as their connections are closed.
const closeWait = 2 * time.Second

// Close ends all connections; calls that wait return ErrClosed. It does not touch the kernel. Calling it again does nothing.
func (c *Client) Close() error {
	c.mu.Lock()
	c.end()
	for _, w := range c.wires {
		w.fail(ErrClosed)
	}
	c.mu.Unlock()
	return c.waitReaders()
}

func (c *Client) waitReaders() error {
	done := make(chan struct{})
	go func() { c.readers.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-time.After(closeWait):
		return fmt.Errorf("a connection of the jupyter client did not close within %v", closeWait)
	}
}
