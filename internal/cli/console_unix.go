//go:build unix

package cli

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/launcher"
)

// jobControl are signals that `run` catches besides those that every kernel gets: SIGPIPE, since the write that fails says it and the command is to meet
// the same, and SIGTSTP, since the terminal must be given back first.
var jobControl = []os.Signal{syscall.SIGPIPE, syscall.SIGTSTP}

// inBackground reports whether a terminal's keys are for another job.
func inBackground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group != syscall.Getpgrp()
}

// pass hands a signal of this process to the command, once. What the command does with it is its own affair; when it has ended, and only the reader of its
// last output is waited for, a signal that asks for the end is obeyed here.
func (c *console) pass(_ context.Context, k *launcher.Kernel, sig syscall.Signal) {
	switch sig {
	case syscall.SIGPIPE:
	case syscall.SIGINT:
		time.AfterFunc(interruptWait, func() { c.send(k, sig) })
	case syscall.SIGWINCH:
		if c.shape.terminal {
			k.Resize(*c.size())
		}
	case syscall.SIGTSTP:
		k.Signal(sig)
		c.cooked()
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case syscall.SIGCONT:
		if c.shape.terminal {
			c.raw()
			k.Resize(*c.size())
		}
		k.Signal(sig)
	default:
		c.send(k, sig)
	}
}

func (c *console) send(k *launcher.Kernel, sig syscall.Signal) {
	if err := k.Signal(sig); err != nil && (sig == syscall.SIGINT || ends(sig)) {
		k.Kill()
	}
}
