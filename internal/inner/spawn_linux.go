package inner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// failure is a step of a start that went wrong on the program's thread.
type failure struct {
	stage  string
	status int
	err    error
}

// spawn starts the program from a thread of its own. What a thread is held to its children inherit, and the other threads of this process stay free: so
// the program needs no step between this process and itself, which would cost every start another run of this binary.
func (in *inside) spawn(o link.Order, path string) {
	result := make(chan *failure)
	go func() {
		runtime.LockOSThread() // never unlocked: nothing else may run on it
		result <- in.launch(o, path)
		select {} // the thread stays: a program may have asked the kernel for a signal when its parent, which is a thread, ends
	}()
	if f := <-result; f != nil {
		in.fail(f.stage, f.status, f.err)
	}
}

func (in *inside) launch(o link.Order, path string) *failure {
	if err := landlock(o.Landlock); err != nil {
		return &failure{"landlock", exitFailed, err}
	}
	// bwrap was started with signals blocked, and a blocked one stays so across exec.
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil); err != nil {
		return &failure{"limits", exitFailed, fmt.Errorf("unblock signals: %w", err)}
	}
	if err := limitCore(); err != nil {
		return &failure{"limits", exitFailed, fmt.Errorf("limit core files: %w", err)}
	}
	if err := keepCore(); err != nil {
		return &failure{"limits", exitFailed, fmt.Errorf("keep the limit of core files: %w", err)}
	}
	restore, err := in.score.raise(o.OOM)
	if err != nil {
		return &failure{"limits", exitFailed, err}
	}
	defer restore()
	if len(o.Rlimits) > 0 {
		return in.throughStub(o, path)
	}
	if err := in.fork(path, o.Argv, o, nil); err != nil {
		return &failure{"exec", statusOf(err), fmt.Errorf("%s: %w", path, err)}
	}
	in.started()
	return nil
}

// fork returns when the child has exec'd.
func (in *inside) fork(path string, argv []string, o link.Order, status *os.File) (err error) {
	attr := &syscall.ProcAttr{Env: o.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true}}
	if t := in.terminal; t != nil {
		s := uintptr(t.slave)
		attr.Files, attr.Sys = []uintptr{s, s, s}, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	if status != nil {
		attr.Files = append(attr.Files, status.Fd())
	}
	in.mu.Lock() // reap must not see the child before pid is known
	defer in.mu.Unlock()
	in.pid, err = syscall.ForkExec(path, argv, attr)
	if err == nil && in.terminal != nil {
		in.terminal.serve()
	}
	return err
}

func (in *inside) started() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.running = true
	in.conn.Send(link.Message{Kind: link.Started})
	in.exited() // it may have ended already
}

// throughStub starts the program by way of the stub: limits that count for a whole process cannot be inherited from one of its parent's threads.
func (in *inside) throughStub(o link.Order, path string) *failure {
	limits, err := encode(o.Rlimits)
	if err != nil {
		return &failure{"limits", exitFailed, err}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return &failure{"exec", exitFailed, err}
	}
	err = in.fork(in.self, append([]string{in.self, StubWord, limits, path}, o.Argv...), o, w)
	w.Close()
	if err != nil {
		return &failure{"exec", exitFailed, fmt.Errorf("start the program's stub: %w", err)}
	}
	go in.await(r) // signals and dials go on
	return nil
}

// await reads the pipe of the stub, which ends when the stub has become the program, or says why it could not.
func (in *inside) await(status *os.File) {
	b, err := io.ReadAll(io.LimitReader(status, 4096))
	status.Close()
	if err == nil && len(b) == 0 {
		in.started()
		return
	}
	code, why, _ := bytes.Cut(b, []byte(" "))
	n := exitFailed
	fmt.Sscan(string(code), &n)
	in.fail("exec", n, errors.New(strings.TrimSpace(string(why))))
}
