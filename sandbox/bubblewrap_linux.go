package sandbox

import (
	"context"
	"sync/atomic"
)

// Bubblewrap runs plans with the program bwrap, 0.8 or newer. The zero value is ready to use.
type Bubblewrap struct {
	ahead atomic.Pointer[chan surveyed]
}

// Name is "bubblewrap".
func (b *Bubblewrap) Name() string { return bubblewrapName }

// Ahead begins to look at the machine while the caller still finds out what its policy is. What is seen is for the next Plan alone, which should follow
// at once.
func (b *Bubblewrap) Ahead() {
	seen := make(chan surveyed, 1)
	go func() { seen <- survey() }()
	b.ahead.Store(&seen)
}

func (b *Bubblewrap) surveyed() surveyed {
	if seen := b.ahead.Swap(nil); seen != nil {
		return <-*seen
	}
	return survey()
}

// Plan observes this machine and compiles the policy for it.
func (b *Bubblewrap) Plan(p Policy) (*Plan, error) {
	f, err := b.surveyed().observe(p)
	if err != nil {
		return nil, err
	}
	return Compile(p, f)
}

// Probe runs bwrap's own --version inside a real sandbox with the options of every plan.
func (b *Bubblewrap) Probe(ctx context.Context) error { return probe(ctx, b) }

// Start runs the command behind the plan's walls.
func (b *Bubblewrap) Start(ctx context.Context, plan *Plan, c Command) (Process, error) {
	return start(ctx, plan, c)
}
