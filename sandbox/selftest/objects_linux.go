package selftest

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// objects are things of the host that have no file.
type objects struct {
	key     int    // a key of the user's, that every process of the user may read
	segment int    // key of a System V shared memory segment
	queue   string // name of a POSIX message queue
	asked   atomic.Int64
}

func (h *host) plantObjects() error {
	h.objects.segment = 0x6b000000 | os.Getpid()&0xffffff
	h.objects.queue = filepath.Base(h.base)
	return errors.Join(h.plantKey(), h.plantSegment(), h.plantQueue())
}

func (h *host) plantKey() error {
	const allOfUser, allOfPossessor = 0x003f0000, 0x3f000000
	key, err := unix.AddKey("user", filepath.Base(h.base), []byte(secret), unix.KEY_SPEC_USER_KEYRING)
	if err != nil {
		return err
	}
	h.objects.key = key
	h.later(func() { unix.KeyctlInt(unix.KEYCTL_INVALIDATE, key, 0, 0, 0) })
	return unix.KeyctlSetperm(key, allOfPossessor|allOfUser)
}

func (h *host) plantSegment() error {
	id, err := unix.SysvShmGet(h.objects.segment, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	if err != nil {
		return err
	}
	h.later(func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return nil
}

func (h *host) plantQueue() error {
	name, err := unix.BytePtrFromString(h.objects.queue)
	if err != nil {
		return err
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_EXCL|unix.O_RDWR, 0o600, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	h.later(func() { unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0) })
	return unix.Close(int(fd))
}
