package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/kernel-launch/kernel-launch/launcher"
)

// relay passes the signals of this process on to the kernel, each once.
type relay struct {
	caught chan struct{} // closed when all of them are
	pass   func(context.Context, *launcher.Kernel, syscall.Signal)
	breaks func(os.Signal) bool // whether a signal breaks off a start

	mu     sync.Mutex
	kernel *launcher.Kernel
	early  []syscall.Signal // that came to break off a start, which may have been over already
}

// signalError is the cause of a start that a signal broke off.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return "ended by " + e.signal.String() }

// untilSignalled is a context that SIGINT or SIGTERM ends, with the signal as its cause.
func untilSignalled(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			cancel(&signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// begin catches signals from the first moment: a client's shutdown begins with SIGINT, which must never end this process by itself. Go asks a thread of its
// own for each, and others need not wait for that: who starts something waits for caught first.
func (r *relay) begin(ctx context.Context, abort context.CancelCauseFunc, more ...os.Signal) (stop func()) {
	signals := make(chan os.Signal, 16)
	r.caught = make(chan struct{})
	go func() {
		signal.Notify(signals, append(more, forwarded...)...)
		close(r.caught)
		for s := range signals {
			r.take(ctx, abort, s.(syscall.Signal))
		}
	}()
	return func() { <-r.caught; signal.Stop(signals); close(signals) }
}

func (r *relay) take(ctx context.Context, abort context.CancelCauseFunc, sig syscall.Signal) {
	r.mu.Lock()
	k := r.kernel
	breaks := k == nil && r.breaks(sig)
	if breaks {
		r.early = append(r.early, sig)
	}
	r.mu.Unlock()
	switch {
	case k != nil:
		r.pass(ctx, k, sig)
	case breaks:
		abort(&signalError{sig})
	}
}

// hand gives the kernel that signals are for, once it has been started, and passes on what came too late to break that off.
func (r *relay) hand(ctx context.Context, k *launcher.Kernel) {
	r.mu.Lock()
	r.kernel = k
	early := r.early
	r.mu.Unlock()
	for _, sig := range early {
		r.pass(ctx, k, sig)
	}
}
