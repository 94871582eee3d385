package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// moment is a program that began in the tree of processes below a launcher.
type moment struct {
	after   time.Duration // since the launcher was started
	program string        // base name of argv[0], or of argv[1] for this program's own words
}

// stops are what a traced process is held at: new threads and processes, and programs that begin. Nothing else is slowed down.
const stops = unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL

// beginnings runs a command until a program named last has begun somewhere below it, and says when each began. It works from outside, with ptrace:
// what is measured need not know. All of it is killed then. The caller's goroutine must be locked to its thread.
func beginnings(cmd *exec.Cmd, last string) ([]moment, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &unix.SysProcAttr{Ptrace: true}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := tracer{root: cmd.Process.Pid, began: began, known: map[int]bool{}}
	defer t.end()
	var status unix.WaitStatus
	if _, err := unix.Wait4(t.root, &status, 0, nil); err != nil {
		return nil, err
	}
	if !status.Stopped() {
		return nil, fmt.Errorf("%s did not begin: %v", cmd.Path, status)
	}
	t.known[t.root] = true
	if err := unix.PtraceSetOptions(t.root, stops); err != nil {
		return nil, err
	}
	t.note(t.root)
	return t.moments, t.follow(last)
}

type tracer struct {
	root    int
	began   time.Time
	known   map[int]bool
	moments []moment
}

func (t *tracer) follow(last string) error {
	pid := t.root
	signal := 0
	for {
		if err := unix.PtraceCont(pid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
		var status unix.WaitStatus
		var err error
		pid, err = unix.Wait4(-1, &status, unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s never began: %w", last, err)
		}
		signal = t.judge(pid, status)
		if n := len(t.moments); n > 0 && t.moments[n-1].program == last {
			return nil
		}
	}
}

// judge says which signal a process that was held goes on with.
func (t *tracer) judge(pid int, status unix.WaitStatus) int {
	switch {
	case !status.Stopped():
		delete(t.known, pid)
		return 0
	case status.TrapCause() == unix.PTRACE_EVENT_EXEC:
		t.note(pid)
		return 0
	case status.TrapCause() > 0:
		return 0
	case !t.known[pid]: // a new one begins with a stop of its own
		t.known[pid] = true
		if status.StopSignal() == unix.SIGSTOP {
			return 0
		}
	}
	return int(status.StopSignal())
}

func (t *tracer) note(pid int) {
	after := time.Since(t.began)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return
	}
	argv := strings.Split(string(b), "\x00")
	name := filepath.Base(argv[0])
	if len(argv) > 1 && strings.HasPrefix(argv[1], "kernel-launch:") {
		name = strings.TrimPrefix(argv[1], "kernel-launch:")
	}
	t.moments = append(t.moments, moment{after, name})
}

// end kills all that is left and waits for it. Those inside go with their first process.
func (t *tracer) end() {
	for pid := range t.known {
		unix.Kill(pid, unix.SIGKILL)
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		if status.Stopped() {
			unix.PtraceCont(pid, int(unix.SIGKILL))
		}
	}
}
