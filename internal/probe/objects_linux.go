package probe

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// objects are attempts at what processes share by name without a file, and at what one of them can do to another by a file that both can only read.
var objects = map[string]attempt{
	"lease":         lease,
	"shared memory": sharedMemory,
	"message queue": func(a Args) (string, error) { return "", messageQueue(a.Path, unix.O_RDONLY) },
}

// sharedMemory finds the System V segment of a key.
func sharedMemory(a Args) (string, error) {
	_, err := unix.SysvShmGet(int(a.number(0)), 0, 0)
	return "", err
}

func messageQueue(name string, flags int) error {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(p)), uintptr(flags), 0o600, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// lease asks to be waited for by whoever opens Path to write. The end of the attempt gives it back.
func lease(a Args) (string, error) {
	f, err := os.Open(a.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return "", err
}
