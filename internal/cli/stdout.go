package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// standardOut is standard output. It remembers what could not be written, since few writers look: output that is lost is no success. A reader that has gone is
// another matter, which SIGPIPE tells.
type standardOut struct {
	f *os.File

	mu   sync.Mutex
	lost error
}

func (o *standardOut) Write(p []byte) (int, error) {
	n, err := o.f.Write(p)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.lost == nil {
			o.lost = err
		}
	}
	return n, err
}

// Fd is asked for by whoever wants to know whether it is a terminal.
func (o *standardOut) Fd() uintptr { return o.f.Fd() }

func (o *standardOut) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var e *os.PathError
	if errors.As(o.lost, &e) {
		return e.Err
	}
	return o.lost
}

// settle says that output was lost, and turns a success into a failure. A command of `run` whose output nobody can take was told by SIGPIPE.
func (a *app) settle(status int) int {
	o, ok := a.out.(*standardOut)
	if !ok {
		return status
	}
	err := o.failure()
	if err == nil {
		return status
	}
	fmt.Fprintln(a.err, "kernel-launch: standard output:", plain.Line(err.Error(), 200))
	if status == 0 || status == 128+int(syscall.SIGPIPE) {
		return statusFailed
	}
	return status
}

// log is standard output for a kernel's own. What a full disk keeps from its server's log does not change how it ends.
func (a *app) log() io.Writer {
	if o, ok := a.out.(*standardOut); ok {
		return o.f
	}
	return a.out
}
