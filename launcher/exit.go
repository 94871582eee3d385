package launcher

import (
	"fmt"
	"syscall"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Reason is why a kernel has ended.
type Reason string

const (
	ReasonExited  Reason = "exited"  // by itself, with a status
	ReasonSignal  Reason = "signal"  // by a signal, its own or one that was sent to it
	ReasonLimit   Reason = "limit"   // the host's kernel killed it, or all of its sandbox, for its memory limit
	ReasonStopped Reason = "stopped" // it was asked to stop, by this launcher
	ReasonKilled  Reason = "killed"  // the whole sandbox was killed from outside
	ReasonFailed  Reason = "failed"  // its program could not be started
	ReasonBroken  Reason = "broken"  // the sandbox's control socket said what it never says
	ReasonLost    Reason = "lost"    // its launcher was killed, and nobody saw its end
)

// Exit is how a kernel ended.
type Exit struct {
	Reason Reason
	Code   int    // what the launcher exits with: the kernel's own status, 128 + n for a signal, 125 to 127 when it never ran
	Signal int    // the signal, or 0
	Output string // the end of what it wrote to its standard error, made safe to print
	Err    error  // with ReasonFailed and ReasonBroken

	// Limit is what the sandbox ran into: with ReasonLimit the cause, with another reason of a bad end a remark that may explain it. nil: nothing known.
	Limit *sandbox.LimitHit

	// Notes are sentences about what it left behind: changed files that other programs run, work that the walls broke off.
	Notes []string
}

// String is a sentence.
func (e Exit) String() string {
	if e.Limit != nil && e.Reason != ReasonLimit {
		return e.sentence() + "; " + remark(e.Limit)
	}
	return e.sentence()
}

func (e Exit) sentence() string {
	switch e.Reason {
	case ReasonExited:
		return fmt.Sprintf("the kernel ended with status %d", e.Code)
	case ReasonSignal:
		return fmt.Sprintf("the kernel was ended by signal %d (%v)", e.Signal, syscall.Signal(e.Signal))
	case ReasonLimit:
		return fmt.Sprintf("the kernel was ended by its memory limit of %v (%ssandbox.limits.memory)", sandbox.Size(e.Limit.Value), used(e.Limit.Peak))
	case ReasonStopped:
		return "the kernel was stopped"
	case ReasonKilled:
		return "the kernel's sandbox was killed"
	case ReasonLost:
		return "the kernel's launcher was killed"
	case ReasonFailed:
		return fmt.Sprintf("the kernel could not be started: %v", e.Err)
	}
	return fmt.Sprintf("the kernel was ended: %v", e.Err)
}

// remark says what happened before a bad end, and not that it was the cause: a program may go on when another process of its was killed, or refused.
func remark(h *sandbox.LimitHit) string {
	if h.Limit == "memory" {
		return fmt.Sprintf("before that %s for its memory limit of %v (sandbox.limits.memory)", times(h.Kills, "a process was killed", "processes were killed"), sandbox.Size(h.Value))
	}
	return fmt.Sprintf("before that %s by its limit of %d (sandbox.limits.processes)", times(h.Kills, "a new process was refused", "new processes were refused"), h.Value)
}

func times(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// used says a peak as far as it is known, rounded to what a person compares.
func used(peak int64) string {
	const mib = 1 << 20
	if peak < mib {
		return ""
	}
	return fmt.Sprintf("it used %v; ", sandbox.Size((peak+mib/2)/mib*mib))
}

// withLimit adds what is known of the limits. Memory is the reason when the kernel, or the sandbox with it, was killed by SIGKILL and the host's kernel
// did kill for this limit; a good end, or one that was asked for, needs no remark.
func (e Exit) withLimit(h *sandbox.LimitHit) Exit {
	switch {
	case h == nil || e.Code == 0 || e.Reason == ReasonBroken:
	case h.Limit == "memory" && (e.Reason == ReasonKilled || e.Reason == ReasonSignal && e.Signal == int(syscall.SIGKILL)):
		e.Reason, e.Limit = ReasonLimit, h
	default:
		e.Limit = h
	}
	return e
}
