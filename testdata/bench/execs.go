package main

import (
	"fmt"
	"os/exec"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watcher is told by the kernel of each execution of one program, whoever's, before it begins. It slows nobody down, as ptrace does at each thread that begins,
// but only root may ask for it.
type watcher struct{ fd int }

func newWatcher(program string) (*watcher, error) {
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_CLOEXEC, unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch executions: %w", err)
	}
	if err := unix.FanotifyMark(fd, unix.FAN_MARK_ADD, unix.FAN_OPEN_EXEC, unix.AT_FDCWD, program); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("watch executions of %s: %w", program, err)
	}
	return &watcher{fd}, nil
}

func (w *watcher) close() { unix.Close(w.fd) }

// after starts a command, says when the program is executed that is watched, and ends the command. Nobody else on the machine may execute it meanwhile.
func (w *watcher) after(cmd *exec.Cmd) (time.Duration, error) {
	var buf [4096]byte
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	n, err := unix.Read(w.fd, buf[:])
	took := time.Since(began)
	cmd.Process.Signal(unix.SIGTERM)
	cmd.Wait()
	if err != nil {
		return 0, err
	}
	return took, w.forget(buf[:n])
}

// forget closes the file that comes with each event.
func (w *watcher) forget(events []byte) error {
	const size = int(unsafe.Sizeof(unix.FanotifyEventMetadata{}))
	for len(events) >= size {
		e := (*unix.FanotifyEventMetadata)(unsafe.Pointer(&events[0]))
		unix.Close(int(e.Fd))
		if int(e.Event_len) < size {
			return fmt.Errorf("an event of %d bytes", e.Event_len)
		}
		events = events[e.Event_len:]
	}
	return nil
}
