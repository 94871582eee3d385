package launcher

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// carryOver copies until from ends. The calls do not wait, so they are made without telling Go's scheduler: told of a call, it wakes a watchman of its own
// whenever the program was idle, which every message of a kernel that is asked one thing at a time finds it, and that one runs where the kernel would.
func carryOver(to, from net.Conn, buf []byte) (n int64, err error) {
	source, ok := from.(syscall.Conn)
	sink, too := to.(syscall.Conn)
	if !ok || !too {
		return io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, buf)
	}
	in, err := source.SyscallConn()
	if err != nil {
		return 0, err
	}
	out, err := sink.SyscallConn()
	if err != nil {
		return 0, err
	}
	reading, writing := newTransfer(unix.SYS_RECVFROM), newTransfer(unix.SYS_SENDTO)
	for {
		got, err := reading.until(in.Read, buf)
		if err != nil || got == 0 {
			return n, asOp("read", err)
		}
		for rest := buf[:got]; len(rest) > 0; {
			put, err := writing.until(out.Write, rest)
			n += int64(put)
			if err != nil {
				return n, asOp("write", err)
			}
			rest = rest[put:]
		}
	}
}

// transfer is a call that takes a descriptor and a buffer and does not wait.
type transfer struct {
	call  uintptr
	buf   []byte
	n     uintptr
	errno syscall.Errno
	once  func(fd uintptr) bool // made one time: it is needed for each message
}

func newTransfer(call uintptr) *transfer {
	a := &transfer{call: call}
	a.once = func(fd uintptr) bool {
		for {
			// Whoever is inside may hold the socket that came from there, and make it one that waits: then nothing here would ever stop for a collection.
			a.n, _, a.errno = unix.RawSyscall6(a.call, fd, uintptr(unsafe.Pointer(&a.buf[0])), uintptr(len(a.buf)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
			if a.errno != unix.EINTR {
				return a.errno != unix.EAGAIN
			}
		}
	}
	return a
}

// until makes the call until it was done or failed. ready calls it again whenever the descriptor may be.
func (a *transfer) until(ready func(func(uintptr) bool) error, buf []byte) (int, error) {
	a.buf = buf
	if err := ready(a.once); err != nil {
		return 0, err
	}
	if a.errno != 0 {
		return 0, os.NewSyscallError("raw", a.errno)
	}
	return int(a.n), nil
}

// asOp says which side an error is of.
func asOp(op string, err error) error {
	if err == nil {
		return nil
	}
	return &net.OpError{Op: op, Net: "tcp", Err: err}
}
