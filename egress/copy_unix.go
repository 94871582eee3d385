//go:build unix

package egress

import (
	"io"
	"net"
	"os"
	"syscall"
)

// readySource takes a buffer only once there is something to read, so that an
// idle tunnel holds none: a thousand of them would hold 128 MB.
type readySource struct{ raw syscall.RawConn }

func newSource(conn net.Conn) source {
	if sc, ok := conn.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			return readySource{raw}
		}
	}
	return plainSource{conn}
}

func (s readySource) next() (*[]byte, int, error) {
	var buf *[]byte
	var n int
	var readErr error
	err := s.raw.Read(func(fd uintptr) bool {
		buf = buffers.Get().(*[]byte)
		n, readErr = readFD(int(fd), *buf)
		if readErr == syscall.EAGAIN {
			buffers.Put(buf)
			buf = nil
			return false
		}
		return true
	})
	switch {
	case err != nil:
		return buf, 0, err
	case readErr != nil:
		return buf, 0, os.NewSyscallError("read", readErr)
	case n == 0:
		return buf, 0, io.EOF
	}
	return buf, n, nil
}

func readFD(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
