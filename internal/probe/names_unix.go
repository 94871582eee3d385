//go:build unix

package probe

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblock keeps an open of a pipe or a device from waiting.
const nonblock = syscall.O_NONBLOCK

func name(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

func signalOf(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return unix.SignalName(ws.Signal())
	}
	return ""
}
