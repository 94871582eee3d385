//go:build unix

package egress

import (
	"io"
	"net"
	"os"
	"syscall"
)

// readySource takes a buffer only once there is something to read, so that an
// idle tunnel holds none.
type readySource struct {
	raw syscall.RawConn
	try func(fd uintptr) bool

	room room
	buf  *[]byte
	n    int
	err  error
}

func newSource(conn net.Conn) source {
	raw := rawOf(conn)
	if raw == nil {
		return &plainSource{Reader: conn}
	}
	s := &readySource{raw: raw}
	s.try = s.read
	return s
}

// rawOf is the socket of a connection, nil where there is none that can be had.
func rawOf(conn net.Conn) syscall.RawConn {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

func (s *readySource) read(fd uintptr) bool {
	s.buf = s.room.take()
	s.n, s.err = readFD(int(fd), *s.buf)
	if s.err == syscall.EAGAIN {
		putBuffer(s.buf)
		s.buf = nil
		return false
	}
	s.room.saw(s.n)
	return true
}

func (s *readySource) next() (*[]byte, int, error) {
	s.buf, s.n, s.err = nil, 0, nil
	err := s.raw.Read(s.try)
	buf := s.buf
	s.buf = nil
	switch {
	case err != nil:
		return buf, 0, err
	case s.err != nil:
		return buf, 0, os.NewSyscallError("read", s.err)
	case s.n == 0:
		return buf, 0, io.EOF
	}
	return buf, s.n, nil
}

func readFD(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
