package launcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/kernel-launch/kernel-launch/jupyter"
)

// maxClients is how many connections one channel takes at once. A front end needs one; dozens of them share a kernel at most.
const maxClients = 256

// bridge owns a connection file's five endpoints on the host and carries bytes between them and the kernel. It reads none of them: signatures,
// encryption and any kind of kernel pass through. It listens as long as the kernel's launcher lives; attach and detach follow the kernel's lives.
type bridge struct {
	*current
	channels []*channel
	wait     sync.WaitGroup
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
	b := &bridge{current: newCurrent()}
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
		b.wait.Go(func() {
			accept(ch.listener, ch.slots, func(c net.Conn) { b.carry(ch, c) }, func() {})
		})
	}
}

// accept gives every connection to carry, which closes it, until l is closed and all of them are done. One for which there is no slot is closed at
// once, and told.
func accept(l net.Listener, slots chan struct{}, carry func(net.Conn), full func()) {
	var carried sync.WaitGroup
	defer carried.Wait()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, most likely: the next one may fare better
			<-time.After(10 * time.Millisecond)
			continue
		}
		select {
		case slots <- struct{}{}:
			carried.Go(func() {
				defer func() { <-slots }()
				carry(c)
			})
		default:
			c.Close()
			full()
		}
	}
}

// carry joins one client with the kernel. It is held while there is no kernel yet, or none again.
func (b *bridge) carry(ch *channel, client net.Conn) {
	defer client.Close()
	l, life, ok := b.attached(nil)
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

func (b *bridge) close() {
	b.end()
	for _, ch := range b.channels {
		ch.listener.Close()
	}
	b.wait.Wait()
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// both copies in both directions until both have ended, and says how many bytes went from a to b and back, and which of the two broke off.
// Plainly: eight kernels with spliced channels use up an ordinary user's pipe pages.
func both(a, b net.Conn) (there, back int64, broke net.Conn) {
	done := make(chan struct{})
	var other net.Conn
	go func() {
		defer close(done)
		back, other = one(a, b)
	}()
	there, broke = one(b, a)
	<-done
	if broke == nil {
		broke = other
	}
	return there, back, broke
}

func one(to, from net.Conn) (n int64, broke net.Conn) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	n, err := carryOver(to, from, *buf)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		half.CloseWrite()
		return n, nil
	}
	to.Close()
	from.Close()
	var op *net.OpError
	switch {
	case err == nil || errors.Is(err, net.ErrClosed): // closed here: by the other direction, or because its time was over
		return n, nil
	case errors.As(err, &op) && op.Op == "write":
		return n, to
	}
	return n, from
}
