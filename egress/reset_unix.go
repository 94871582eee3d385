//go:build unix

package egress

import (
	"net"

	"golang.org/x/sys/unix"
)

// wasReset tells whether the peer broke the connection off, without reading:
// behind unread bytes a read would not get to know.
func wasReset(conn net.Conn) bool {
	reset := false
	if raw := rawOf(conn); raw != nil {
		_ = raw.Control(func(fd uintptr) { reset = inError(fd) })
	}
	return reset
}

func inError(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd)}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLERR != 0
}

// brokeOff waits until the peer breaks off a connection that it has ended its
// side of (true), or until its read deadline.
func brokeOff(conn net.Conn) bool {
	raw := rawOf(conn)
	if raw == nil {
		return false
	}
	reset := false
	err := raw.Read(func(fd uintptr) bool { // asked again whenever something happens to it
		reset = inError(fd)
		return reset
	})
	return err == nil && reset
}
