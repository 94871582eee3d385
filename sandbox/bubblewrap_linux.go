package sandbox

import "context"

// Bubblewrap runs plans with the program bwrap, 0.8 or newer. The zero value is ready to use.
type Bubblewrap struct{}

// Name is "bubblewrap".
func (b *Bubblewrap) Name() string { return bubblewrapName }

// Plan observes this machine and compiles the policy for it.
func (b *Bubblewrap) Plan(p Policy) (*Plan, error) {
	f, err := Observe(p)
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
