package inner

import (
	"fmt"

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
	in.hand(link.Message{Kind: link.Listening, ID: m.ID}, fd) // the launcher's copy goes on listening
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

// hand sends a socket out, and keeps none.
func (in *inside) hand(m link.Message, fd int) {
	defer unix.Close(fd)
	if err := in.conn.Send(m, fd); err != nil {
		exit(exitFailed) // the launcher cannot be answered: it is gone
	}
}
