package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// firstFile is the descriptor of the first of a command's files.
const firstFile = 3

// start runs bwrap with an empty environment (its own stays readable in /proc) and its options in a descriptor (they
// name every path of the host).
func start(ctx context.Context, plan *Plan, c Command) (Process, error) {
	if plan.Backend != bubblewrapName {
		return nil, fmt.Errorf("plan is for backend %q, not for %s", plan.Backend, bubblewrapName)
	}
	if plan.Program == "" {
		return nil, missing()
	}
	if len(c.Argv) == 0 || !filepath.IsAbs(c.Argv[0]) {
		return nil, fmt.Errorf("command %q does not begin with an absolute path", c.Argv)
	}
	t := newThread() // it gets ready while the descriptors do
	defer close(t)
	g, err := newGate(ctx, plan.Bounds)
	if err != nil {
		return nil, err
	}
	d := &donation{first: firstFile + len(c.Files), gate: g}
	defer d.close()
	info, argsFD, err := d.fill(plan, c.EndsItself)
	if err != nil {
		_, left := g.leave()
		return nil, errors.Join(err, left)
	}
	p := newProcess(info, g)
	p.islands = d.islands()
	argv := append(append(append([]string{"bwrap"}, g.options(d)...), "--args", argsFD, "--"), c.Argv...)
	err = p.launch(ctx, t, func() (int, error) { return fork(plan.Program, argv, c, d.files) })
	if err != nil {
		info.Close()
		_, left := g.leave()
		return nil, errors.Join(explainStart(plan, err), left)
	}
	return p, nil
}

func explainStart(plan *Plan, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return missing()
	}
	return fmt.Errorf("starting %s: %w", plan.Program, err)
}

// fork starts bwrap, by the system's own means: exec.Cmd would first start a process to find out how it may wait for others.
func fork(program string, argv []string, c Command, donated []*os.File) (int, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	files := slices.Concat([]*os.File{c.Stdin, c.Stdout, c.Stderr}, c.Files, donated)
	fds := make([]uintptr, len(files))
	for i, f := range files {
		if f == nil {
			f = null
		}
		fds[i] = f.Fd() // which makes it block, as programs expect
	}
	defer runtime.KeepAlive(files)
	// No Pdeathsig here: bwrap sets its own (--die-with-parent). Killed any earlier, between its fork and its go-ahead to
	// the child, it leaves a child that waits for that go-ahead for ever.
	return syscall.ForkExec(program, argv, &syscall.ProcAttr{Dir: "/", Env: []string{}, Files: fds, Sys: &syscall.SysProcAttr{Setpgid: true}})
}

// thread takes one function, which runs on a thread of its own, and is closed then. The thread lives until the function returns: the kernel sends the death
// signal when the thread that forked ends, not the process. Signals that people and editors send to whole process trees are blocked there first; bwrap would
// die of them. A blocked signal is inherited, and unlike an ignored one it leaves this program's own handlers alone. The command inside unblocks what
// it wants.
type thread chan func(ready error)

func newThread() thread {
	t := make(thread)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread with its odd mask ends with this goroutine
		err := blockSignals()
		if do, given := <-t; given {
			do(err)
		}
	}()
	return t
}

func (p *process) launch(ctx context.Context, t thread, fork func() (int, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	started := make(chan error, 1)
	t <- func(err error) {
		pid := 0
		if err == nil {
			pid, err = fork()
		}
		if err != nil {
			started <- err
			return
		}
		p.began(pid)
		defer context.AfterFunc(ctx, func() { p.Kill() })()
		if err := p.gate.enter(pid); err != nil {
			p.Kill()
			p.finish(pid)
			started <- err
			return
		}
		started <- nil
		p.finish(pid)
	}
	return <-started
}

var blocked = []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2}

func blockSignals() error {
	var set unix.Sigset_t
	const word = 8 * int(unsafe.Sizeof(set.Val[0]))
	for _, s := range blocked {
		n := int(s) - 1
		set.Val[n/word] |= 1 << (n % word)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil); err != nil {
		return fmt.Errorf("blocking signals: %w", err)
	}
	return nil
}
