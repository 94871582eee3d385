package link

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// check refuses a received descriptor that is not exactly the loopback TCP socket that was asked for.
func check(f *os.File, port int, listening bool) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var problem error
	if err := raw.Control(func(fd uintptr) { problem = checkFD(int(fd), port, listening) }); err != nil {
		return err
	}
	return problem
}

func checkFD(fd, port int, listening bool) error {
	for _, o := range []struct {
		option, want int
		name         string
	}{
		{unix.SO_DOMAIN, unix.AF_INET, "address family"},
		{unix.SO_TYPE, unix.SOCK_STREAM, "socket type"},
		{unix.SO_PROTOCOL, unix.IPPROTO_TCP, "protocol"},
		{unix.SO_ACCEPTCONN, b2i(listening), "listening state"},
	} {
		got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, o.option)
		if err != nil {
			return &ProtocolError{"the descriptor that came is no socket: " + err.Error()}
		}
		if got != o.want {
			return &ProtocolError{fmt.Sprintf("the descriptor that came has %s %d, not %d", o.name, got, o.want)}
		}
	}
	get := unix.Getsockname
	if !listening {
		get = unix.Getpeername
	}
	sa, err := get(fd)
	if err != nil {
		return &ProtocolError{"the socket that came has no address: " + err.Error()}
	}
	in4, ok := sa.(*unix.SockaddrInet4)
	if !ok || !netip.AddrFrom4(in4.Addr).IsLoopback() {
		return &ProtocolError{"the socket that came is not on loopback"}
	}
	if in4.Port != port {
		return &ProtocolError{fmt.Sprintf("the socket that came is for port %d, not %d", in4.Port, port)}
	}
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
