package launcher

import (
	"fmt"
	"syscall"
)

// Reason is why a kernel has ended.
type Reason string

const (
	ReasonExited  Reason = "exited"  // by itself, with a status
	ReasonSignal  Reason = "signal"  // by a signal, its own or one that was sent to it
	ReasonStopped Reason = "stopped" // it was asked to stop, by this launcher
	ReasonKilled  Reason = "killed"  // the whole sandbox was killed from outside
	ReasonFailed  Reason = "failed"  // its program could not be started
	ReasonBroken  Reason = "broken"  // the sandbox's control socket said what it never says
)

// Exit is how a kernel ended.
type Exit struct {
	Reason Reason
	Code   int    // what the launcher exits with: the kernel's own status, 128 + n for a signal, 125 to 127 when it never ran
	Signal int    // the signal, or 0
	Output string // the end of what it wrote to its standard error, made safe to print
	Err    error  // with ReasonFailed and ReasonBroken
}

// String is a sentence.
func (e Exit) String() string {
	switch e.Reason {
	case ReasonExited:
		return fmt.Sprintf("the kernel ended with status %d", e.Code)
	case ReasonSignal:
		return fmt.Sprintf("the kernel was ended by signal %d (%v)", e.Signal, syscall.Signal(e.Signal))
	case ReasonStopped:
		return "the kernel was stopped"
	case ReasonKilled:
		return "the kernel's sandbox was killed"
	case ReasonFailed:
		return fmt.Sprintf("the kernel could not be started: %v", e.Err)
	}
	return fmt.Sprintf("the kernel was ended: %v", e.Err)
}
