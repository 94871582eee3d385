package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/jupyter"
)

// maxClients is how many connections one channel takes at once. A front end needs one; dozens of them share a kernel at most.
const maxClients = 256

// bridge owns a connection file's five endpoints on the host and carries bytes between them and the kernel. It reads none of them: signatures,
// encryption and any kind of kernel pass through. It listens as long as the kernel's launcher lives; attach and detach follow the kernel's lives.
type bridge struct {
	channels []*channel
	wait     sync.WaitGroup

	mu     sync.Mutex
	life   context.Context // of the present sandbox; nil in between
	link   link.Link
	change chan struct{} // closed when one is attached
	closed bool
}

type channel struct {
	name     string
	inside   int // port
	listener net.Listener
	slots    chan struct{}
}

// PortTakenError says which port of a connection file somebody else listens on.
type PortTakenError struct {
	Channel string
	Address string
	Err     error
}

func (e *PortTakenError) Error() string {
	return fmt.Sprintf("the %s port of the connection file is taken: %s: %v", e.Channel, e.Address, e.Err)
}

func (e *PortTakenError) Unwrap() error { return e.Err }

var channelNames = []string{"shell", "iopub", "stdin", "control", "heartbeat"}

// listen opens the five endpoints at once, so that a client is answered from the first moment. A port 0 is chosen here and written into c.
func listen(ctx context.Context, c *jupyter.Connection) (*bridge, error) {
	b := &bridge{change: make(chan struct{})}
	ports := []*int{&c.Shell, &c.IOPub, &c.Stdin, &c.Control, &c.HB}
	for i, port := range ports {
		l, err := open(ctx, c, *port)
		if err != nil {
			b.close()
			return nil, &PortTakenError{Channel: channelNames[i], Address: net.JoinHostPort(c.IP, strconv.Itoa(*port)), Err: err}
		}
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			*port = a.Port
		}
		b.channels = append(b.channels, &channel{channelNames[i], *port, l, make(chan struct{}, maxClients)})
	}
	return b, nil
}

func open(ctx context.Context, c *jupyter.Connection, port int) (net.Listener, error) {
	if c.Transport == "ipc" {
		return net.Listen("unix", c.IP+"-"+strconv.Itoa(port))
	}
	host := c.IP
	if host == "*" {
		host = ""
	}
	var l net.ListenConfig
	l.SetMultipathTCP(false) // Go's default since 1.24; a channel never leaves its machine
	return l.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

// serve accepts clients until close.
func (b *bridge) serve() {
	for _, ch := range b.channels {
		b.wait.Add(1)
		go func() {
			defer b.wait.Done()
			b.accept(ch)
		}()
	}
}

func (b *bridge) accept(ch *channel) {
	for {
		c, err := ch.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, most likely: the next one may fare better
			<-time.After(10 * time.Millisecond)
			continue
		}
		select {
		case ch.slots <- struct{}{}:
			go func() {
				defer func() { <-ch.slots }()
				b.carry(ch, c)
			}()
		default:
			c.Close()
		}
	}
}

// carry joins one client with the kernel. It is held while there is no kernel yet, or none again.
func (b *bridge) carry(ch *channel, client net.Conn) {
	defer client.Close()
	l, life, ok := b.attached()
	if !ok {
		return
	}
	kernel, err := l.Dial(life, ch.inside)
	if err != nil {
		return
	}
	defer kernel.Close()
	stop := context.AfterFunc(life, func() { // a kernel that is gone must be seen as gone
		client.Close()
		kernel.Close()
	})
	defer stop()
	both(client, kernel)
}

// attached waits for a sandbox.
func (b *bridge) attached() (link.Link, context.Context, bool) {
	for {
		b.mu.Lock()
		l, life, change, closed := b.link, b.life, b.change, b.closed
		b.mu.Unlock()
		if closed {
			return nil, nil, false
		}
		if l != nil {
			return l, life, true
		}
		<-change
	}
}

// attach makes l the kernel's present sandbox until life ends.
func (b *bridge) attach(l link.Link, life context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.link, b.life = l, life
	close(b.change)
	b.change = make(chan struct{})
	context.AfterFunc(life, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.life == life {
			b.link, b.life = nil, nil
		}
	})
}

func (b *bridge) close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.change)
	}
	b.mu.Unlock()
	for _, ch := range b.channels {
		ch.listener.Close()
	}
	b.wait.Wait()
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// both copies in both directions until both have ended. Plainly: eight kernels with spliced channels use up an ordinary user's pipe pages.
func both(a, b net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		one(a, b)
	}()
	one(b, a)
	<-done
}

func one(to, from net.Conn) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, *buf)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		half.CloseWrite()
		return
	}
	to.Close()
	from.Close()
}
