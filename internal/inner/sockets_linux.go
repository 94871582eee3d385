package inner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// listen opens a port by plain calls: it stands between a launcher and the program, and what the net package would do besides costs more than they do.
func (in *inside) listen(m link.Message) {
	fd, err := listenOn(m.Port)
	if err != nil {
		in.conn.Send(link.Message{Kind: link.Listening, ID: m.ID, Text: text(err)})
		return
	}
	defer unix.Close(fd) // the launcher's copy goes on listening
	if err := in.conn.Send(link.Message{Kind: link.Listening, ID: m.ID}, fd); err != nil {
		exit(exitFailed) // the launcher cannot be answered: it is gone
	}
}

// listenOn is a plain TCP listener: the launcher takes no other. As many may wait for it as the system lets.
func listenOn(port int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		err = unix.Listen(fd, 1<<16-1)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("listen on 127.0.0.1:%d: %w", port, err)
	}
	return fd, nil
}

// dial connects to a port of the program and holds on until it listens there: a client may come long before the kernel is ready.
func (in *inside) dial(m link.Message) {
	ctx, cancel := context.WithCancel(in.ctx)
	in.mu.Lock()
	in.cancels[m.ID] = cancel
	in.mu.Unlock()
	go func() {
		defer in.cancel(m.ID)
		c, err := connect(ctx, m.Port)
		if err != nil {
			in.conn.Send(link.Message{Kind: link.Dialed, ID: m.ID, Text: text(err)})
			return
		}
		defer c.Close()
		in.hand(link.Message{Kind: link.Dialed, ID: m.ID}, c.(*net.TCPConn))
	}()
}

func (in *inside) cancel(id uint32) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if c := in.cancels[id]; c != nil {
		c()
		delete(in.cancels, id)
	}
}

// eager is how long a dial asks every 2 ms. A kernel is up within that time; one that is not costs 20 questions a second.
const eager = 10 * time.Second

// connect dials from 127.0.0.2: from 127.0.0.1 an ephemeral port can be given its own number and connect to itself.
func connect(ctx context.Context, port int) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	addr := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String()
	begin := time.Now()
	for {
		c, err := d.DialContext(ctx, "tcp4", addr)
		if err == nil || !errors.Is(err, syscall.ECONNREFUSED) {
			return c, err
		}
		wait := 2 * time.Millisecond
		if time.Since(begin) > eager {
			wait = 50 * time.Millisecond
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("nothing listened there while the client waited")
		case <-time.After(wait):
		}
	}
}

// hand sends a socket out. Its own copy is closed by the caller.
func (in *inside) hand(m link.Message, s syscall.Conn) {
	raw, err := s.SyscallConn()
	if err != nil {
		m.Text = text(err)
		in.conn.Send(m)
		return
	}
	raw.Control(func(fd uintptr) { err = in.conn.Send(m, int(fd)) })
	if err != nil {
		exit(exitFailed) // the launcher cannot be answered: it is gone
	}
}
