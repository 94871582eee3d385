package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// firstFile is the descriptor of the first of exec.Cmd's ExtraFiles.
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
	cmd := exec.CommandContext(ctx, plan.Program)
	cmd.Args = append(append(append([]string{"bwrap"}, g.options(d)...), "--args", argsFD, "--"), c.Argv...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.ExtraFiles = append(append([]*os.File{}, c.Files...), d.files...)
	setOutput(cmd, c)
	// No Pdeathsig here: bwrap sets its own (--die-with-parent). Killed any earlier, between its fork and its go-ahead to
	// the child, it leaves a child that waits for that go-ahead for ever.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = p.Kill
	if err := p.launch(cmd); err != nil {
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

// setOutput keeps a nil *os.File from becoming a writer that is not nil.
func setOutput(cmd *exec.Cmd, c Command) {
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
}

// launch forks on a thread of its own that lives until the sandbox has ended: the kernel sends the death signal when
// the forking thread ends, not the process. Signals that people and editors send to whole process trees are blocked
// there first; bwrap would die of them. A blocked signal is inherited, and unlike an ignored one it leaves this
// program's own handlers alone. The command inside unblocks what it wants.
func (p *process) launch(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread with its odd mask ends with this goroutine
		err := blockSignals()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			started <- err
			return
		}
		p.began(cmd)
		if err := p.gate.enter(cmd.Process.Pid); err != nil {
			p.Kill()
			p.finish(cmd)
			started <- err
			return
		}
		started <- nil
		p.finish(cmd)
	}()
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
