//go:build amd64 || arm64

package inner

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepCore holds the calling thread, and what it starts, to the limit that limitCore has set. Lowered to 0 it would let the host's handler run again, as
// root and outside, with the memory of a program from inside as what it reads. The filter of the plan cannot do it: it holds already when limitCore comes.
// Programs that keep secrets, gpg and ssh-agent among them, set 0 and end when they may not, so they are told that they did: what they want holds.
func keepCore() error {
	program := unix.SockFprog{Len: uint16(len(keptCore)), Filter: &keptCore[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("filter the calls that set it: %w", err)
	}
	return nil
}

// Where the kernel shows a call to a filter: struct seccomp_data, on a little-endian machine.
const (
	callNumber   = 0
	callArgument = 16 // the lower half of the first; each takes 8 bytes
)

// keptCore answers setrlimit(resource, new) and prlimit64(pid, resource, new, old). Who asks for the old limit as well gets EPERM: nothing would be written
// there. The other ways into the kernel are shut by the plan's filter.
var keptCore = []unix.SockFilter{
	load(callNumber),
	equal(unix.SYS_SETRLIMIT, 2, 0),
	equal(unix.SYS_PRLIMIT64, 3, 0),
	returns(unix.SECCOMP_RET_ALLOW),
	load(callArgument), // setrlimit
	equal(unix.RLIMIT_CORE, 10, 12),
	load(callArgument + 8), // prlimit64
	equal(unix.RLIMIT_CORE, 0, 10),
	load(callArgument + 16),
	equal(0, 0, 2),
	load(callArgument + 20),
	equal(0, 6, 0),
	load(callArgument + 24), // there is a new limit
	equal(0, 0, 3),
	load(callArgument + 28),
	equal(0, 0, 1),
	returns(unix.SECCOMP_RET_ERRNO), // with 0: it is not made, and has succeeded
	returns(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)),
	returns(unix.SECCOMP_RET_ALLOW),
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// equal skips yes instructions when what is loaded is the value, else no.
func equal(value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: yes, Jf: no, K: value}
}

func returns(verdict uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
}
