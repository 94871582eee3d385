//go:build unix

package egress

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// wasReset tells whether the peer broke the connection off, without reading:
// behind unread bytes a read would not get to know.
func wasReset(conn net.Conn) bool {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	reset := false
	_ = raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds, 0)
		reset = err == nil && n > 0 && fds[0].Revents&unix.POLLERR != 0
	})
	return reset
}
