package egress

import (
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Bytes that are many go from socket to socket through a pipe of the system,
// which takes half the processor time of copying. Pipes are scarce: an
// ordinary user's fall to one page each when all together hold 64 MiB, and
// splicing is slower than copying then. So a pipe is held only while bytes are
// in it, there are few, and one that came out small is not used. A large one
// takes a quarter less time than one of 256 KiB.
const (
	spliceAfter = 1 << 20 // bytes in one direction, before it is worth it
	pipeSize    = 1 << 20 // the most that an ordinary user may ask for
	pipeLeast   = 64 << 10
	pipesMost   = 24
	pipesKept   = 4
)

var (
	pipesOut  = make(chan struct{}, pipesMost)
	pipesIdle = make(chan *pipe, pipesKept)
)

type pipe struct{ r, w int }

// takePipe never waits; nil means that there is none.
func takePipe() *pipe {
	select {
	case pipesOut <- struct{}{}:
	default:
		return nil
	}
	select {
	case p := <-pipesIdle:
		return p
	default:
	}
	p := newPipe()
	if p == nil {
		<-pipesOut
	}
	return p
}

// newPipe gives nil when the user has so many pipes that this one is small.
func newPipe() *pipe {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		return nil
	}
	size, err := unix.FcntlInt(uintptr(fds[0]), unix.F_SETPIPE_SZ, pipeSize)
	if err != nil {
		size, err = unix.FcntlInt(uintptr(fds[0]), unix.F_GETPIPE_SZ, 0)
	}
	if err != nil || size < pipeLeast {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil
	}
	return &pipe{fds[0], fds[1]}
}

// give takes an empty pipe back; one with bytes in it is of no more use.
func (p *pipe) give(empty bool) {
	<-pipesOut
	if empty {
		select {
		case pipesIdle <- p:
			return
		default:
		}
	}
	unix.Close(p.r)
	unix.Close(p.w)
}

// splicer moves what one socket has received to another one.
type splicer struct{ dst, src syscall.RawConn } // nil where the system cannot splice

func newSplicer(dst, src net.Conn) *splicer {
	if !isTCP(dst) || !isTCP(src) {
		return &splicer{}
	}
	to, from := rawOf(dst), rawOf(src)
	if to == nil || from == nil {
		return &splicer{}
	}
	return &splicer{to, from}
}

func isTCP(conn net.Conn) bool {
	_, ok := conn.(*net.TCPConn)
	return ok
}

// step waits for bytes and moves them. Not done means that there is no pipe for
// these sockets, and that nothing has been read.
func (s *splicer) step() (n int, done bool, readErr, writeErr error) {
	if s.src == nil {
		return 0, false, nil, nil
	}
	p, n, err := s.fill()
	if err != nil || p == nil {
		return 0, err != nil, err, nil
	}
	moved, writeErr := s.drain(p, n)
	p.give(moved == n)
	return moved, true, nil, writeErr
}

// fill waits until there is something to read, and only then takes a pipe.
func (s *splicer) fill() (p *pipe, n int, err error) {
	closed := s.src.Read(func(fd uintptr) bool {
		err = nil
		if p = takePipe(); p == nil {
			return true
		}
		if n, err = spliceFD(int(fd), p.w, pipeSize); n > 0 {
			return true
		}
		p.give(true)
		p = nil
		if err == nil {
			err = io.EOF
		}
		return err != unix.EAGAIN
	})
	if closed != nil {
		return nil, 0, closed
	}
	return p, n, err
}

func (s *splicer) drain(p *pipe, n int) (moved int, err error) {
	for moved < n && err == nil {
		closed := s.dst.Write(func(fd uintptr) bool {
			var k int
			k, err = spliceFD(p.r, int(fd), n-moved)
			moved += k
			if err == unix.EAGAIN {
				err = nil
				return false
			}
			return true
		})
		if closed != nil {
			return moved, closed
		}
	}
	return moved, err
}

func spliceFD(from, to, n int) (int, error) {
	for {
		k, err := unix.Splice(from, nil, to, nil, n, unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return 0, err
		case err != nil:
			return 0, os.NewSyscallError("splice", err)
		default:
			return int(k), nil
		}
	}
}
