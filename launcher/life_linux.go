package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/kernel-launch/kernel-launch/internal/inner"
	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// bear starts a sandbox whose first process waits for an order.
func bear(ctx context.Context, b birth) (*life, error) {
	conn, theirs, err := link.Pair()
	if err != nil {
		return nil, err
	}
	l := &life{patient: b.patient, cut: make(chan struct{}), done: make(chan struct{})}
	diagnosis := newTail(4 << 10)
	std, err := l.standard(b, diagnosis)
	if err == nil {
		l.process, err = b.backend.Start(b.lifetime, b.plan, sandbox.Command{
			Argv:  []string{sandbox.HelperTarget, inner.Word},
			Files: []*os.File{theirs}, Stdin: std.in, Stdout: std.out, Stderr: std.err, EndsItself: true,
		})
	}
	std.close() // an end that stays open here is never seen as one
	theirs.Close()
	if err != nil {
		conn.Close()
		l.closePipes()
		return nil, err
	}
	h := link.NewHandoff(conn)
	l.link = h
	go l.watch()
	link.Prepare()
	if b.meanwhile != nil {
		if err := b.meanwhile(); err != nil {
			l.end()
			return nil, err
		}
	}
	if err := l.hello(ctx, h, diagnosis, b.plan); err != nil {
		return nil, err
	}
	return l, nil
}

// hello waits for the inside. A backend that ended before said why on its standard error.
func (l *life) hello(ctx context.Context, h *link.Handoff, diagnosis *tail, plan *sandbox.Plan) error {
	limited, cancel := context.WithTimeoutCause(ctx, helloTime, fmt.Errorf("the sandbox did not answer within %v", helloTime))
	defer cancel()
	err := h.Hello(limited)
	if err == nil {
		return nil
	}
	if !errors.Is(err, link.ErrClosed) {
		l.end()
		return err
	}
	<-l.done // by itself, with all that it wrote
	if l.exit.Reason == ReasonLimit {
		return errors.New(l.exit.String())
	}
	return notMade(ctx, plan, diagnosis.String())
}

// notMade says why a sandbox ended before anything ran inside it. The backend's version is asked only now: a start that succeeds need not wait for it.
func notMade(ctx context.Context, plan *sandbox.Plan, said string) error {
	if u := sandbox.Classify(said, sandbox.Version(ctx, plan.Program), sandbox.ObserveMachine()); u != nil {
		return u
	}
	return fmt.Errorf("the sandbox ended before anything ran inside it; it wrote: %s", plain.Line(said, 800))
}
