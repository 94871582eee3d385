package probe

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are system calls that a filter refuses. Where the kernel would ask for a right, the call is made wrongly on purpose: the kernel's own answer is then
// another than the filter's, for root and for everybody else, and nothing is done.
var calls = map[string]attempt{
	"add a key":  addKey,
	"read a key": readKey,
	"io_uring":   func(Args) (string, error) { return made(unix.SYS_IO_URING_SETUP, 1, pointer(&[128]byte{}), 0) },
	"bpf": func(Args) (string, error) {
		return made(unix.SYS_BPF, unix.BPF_PROG_GET_NEXT_ID, pointer(&[128]byte{}), 1<<20)
	},
	"perf":                func(Args) (string, error) { return made(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 1<<30) },
	"userfaultfd":         func(Args) (string, error) { return made(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly) },
	"name a handle":       nameHandle,
	"personality":         func(Args) (string, error) { return made(unix.SYS_PERSONALITY, 0x0040000) },
	"set the clock":       func(Args) (string, error) { return made(unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME, 0) },
	"read the kernel log": func(Args) (string, error) { return made(unix.SYS_SYSLOG, 10, 0, 0) },
	"int 80":              func(Args) (string, error) { return oldCall() },
	"socket":              socket,
}

// userModeOnly is the flag with which the kernel lets everybody have a userfaultfd.
const userModeOnly = 1

// made makes a call, and closes the descriptor that a successful one of these returns.
func made(number uintptr, args ...uintptr) (string, error) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return "", errno
	}
	if number == unix.SYS_IO_URING_SETUP || number == unix.SYS_USERFAULTFD {
		return "", unix.Close(int(r))
	}
	return "", nil
}

func pointer[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// addKey adds to a ring that ends with the process.
func addKey(Args) (string, error) {
	_, err := unix.AddKey("user", "kernel-launch-probe", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
	return "", err
}

func readKey(a Args) (string, error) {
	buf := make([]byte, 64)
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, int(a.number(0)), buf, 0)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func nameHandle(a Args) (string, error) {
	_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, a.Path, 0)
	return "", err
}

// oldCall asks for a keyring by the way into the kernel that 32-bit programs take.
func oldCall() (string, error) {
	const keyctl, getID, processRing = 288, 0, -2
	r, err := int80(keyctl, getID, processRing, 1)
	if err != nil {
		return "", err
	}
	if r < 0 {
		return "", syscall.Errno(-r)
	}
	return "", nil
}

// socket makes one of a family, a type and a protocol.
func socket(a Args) (string, error) {
	fd, err := unix.Socket(int(a.number(0)), int(a.number(1))|unix.SOCK_CLOEXEC, int(a.number(2)))
	if err != nil {
		return "", err
	}
	return "", unix.Close(fd)
}
