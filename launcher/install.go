package launcher

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/restart"
)

// Action is what was done about a running kernel after an install. A preview has none.
type Action string

const (
	Kept      Action = "kept"      // nothing had to be done
	Told      Action = "told"      // a restart would be due; the policy leaves it to the user
	Restarted Action = "restarted" // in place, on the same ports
	Failed    Action = "failed"    // it could not be restarted; the last reason says why
)

// KernelVerdict is what an install means for one running kernel.
type KernelVerdict struct {
	ID      string          `json:"id"`
	Verdict restart.Verdict `json:"verdict"`
	Action  Action          `json:"action,omitempty"`
	Reasons []string        `json:"reasons"`

	record Record
}

// Installer changes environments by approved plans and restarts the kernels that must. Asking is the caller's: nothing here approves anything.
type Installer struct {
	Store *envs.Store
	Dirs  dirs.Dirs
	When  string // restart.when of the configuration: never, required (also when empty) or recommended
}

// PlansDir is where plans stand until they are approved or expire.
func PlansDir(d dirs.Dirs) string { return filepath.Join(d.State, "plans") }

// Preview says what a plan would mean for the kernels that run now, before anyone approves it.
func (i Installer) Preview(p *envs.Plan) ([]KernelVerdict, error) {
	return i.judge(p.Environment, p.After, p.Additive, p.Generation)
}

// Installed is a plan carried out.
type Installed struct {
	*envs.Result
	Kernels []KernelVerdict
}

// Apply carries an approved plan out, then restarts what must be restarted and may be.
func (i Installer) Apply(ctx context.Context, p *envs.Plan) (*Installed, error) {
	res, err := i.Store.Apply(ctx, p)
	if err != nil {
		return nil, err
	}
	done := &Installed{Result: res}
	done.Kernels, err = i.judge(p.Environment, res.After, res.InPlace, res.Generation)
	for n := range done.Kernels {
		i.act(ctx, &done.Kernels[n])
	}
	return done, err
}

// judge compares what each kernel of an environment can import now with what it will be able to. Each against its own tree: one that runs an older
// generation does not see what is added to the current one.
func (i Installer) judge(environment string, after restart.Snapshot, inPlace bool, generation int) ([]KernelVerdict, error) {
	records, err := Kernels(i.Dirs)
	if err != nil {
		return nil, err
	}
	e, err := i.Store.Get(environment)
	if err != nil {
		return nil, err
	}
	list := []KernelVerdict{}
	for _, r := range records {
		if !strings.EqualFold(r.Environment, environment) {
			continue
		}
		before, err := e.SnapshotOf(e.TreeOf(r.Generation))
		if err != nil {
			return nil, fmt.Errorf("what kernel %s runs: %w", r.ID, err)
		}
		j := restart.Judge(restart.Kernel{ID: r.ID, Generation: r.Generation}, restart.Diff(before, after), inPlace && r.Generation == generation)
		list = append(list, KernelVerdict{ID: r.ID, Verdict: j.Verdict, Reasons: some(j.Reasons), record: r})
	}
	return list, nil
}

func some(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// act restarts a kernel when its verdict and the policy ask for it.
func (i Installer) act(ctx context.Context, v *KernelVerdict) {
	switch {
	case v.Verdict == restart.Keep:
		v.Action = Kept
	case v.Verdict == restart.Required && i.When != "never", v.Verdict == restart.Recommended && i.When == "recommended":
		v.Action = Restarted
		if _, err := v.record.Ask(ctx, OpRestart); err != nil {
			v.Action = Failed
			v.Reasons = append(v.Reasons, err.Error())
		}
	default:
		v.Action = Told
	}
}

// Standing says what a kernel that runs an older generation misses; nil when it runs the current one.
func (i Installer) Standing(r Record) (*restart.Judgement, error) {
	e, err := i.Store.Get(r.Environment)
	if err != nil || e.Generation == r.Generation {
		return nil, err
	}
	before, err := e.SnapshotOf(e.TreeOf(r.Generation))
	if err != nil {
		return nil, err
	}
	after, err := e.Snapshot()
	if err != nil {
		return nil, err
	}
	j := restart.Judge(restart.Kernel{ID: r.ID, Generation: r.Generation}, restart.Diff(before, after), false)
	return &j, nil
}
