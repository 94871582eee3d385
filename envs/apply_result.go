package envs

import (
	"fmt"
	"slices"
	"time"

	"github.com/kernel-launch/kernel-launch/restart"
)

func (a *application) journal(now *Environment, changes restart.Changes) journal {
	return journal{Tree: now.Generation, Manifest: manifestOf(now), Entry: HistoryEntry{
		ID: a.id, Time: time.Now().UTC().Truncate(time.Second), Generation: now.Generation, Plan: a.plan.ID, Changes: changes, Requested: now.Requested, Owned: now.Owned,
	}}
}

// result reads what there is now: never what should be.
func (a *application) result(now *Environment, inPlace bool) (*Result, error) {
	after, err := now.Snapshot()
	if err != nil {
		return nil, err
	}
	r := &Result{Environment: now, Before: a.before, After: after, Changes: restart.Diff(a.before, after), InPlace: inPlace, Generation: now.Generation}
	r.Additive = r.Changes.Additive()
	for _, h := range after.Hooks {
		if !slices.Contains(a.before.Hooks, h) {
			r.Hooks = append(r.Hooks, h)
		}
	}
	return r, nil
}

// verify compares what stands in the tree with what the manifest will say.
func (e *Environment) verify(s restart.Snapshot) error {
	found := map[string]string{}
	for _, p := range s.Packages {
		if p.Owner == OwnerEnv {
			found[p.Name] = p.Version
		}
	}
	var faults []error
	for _, o := range e.Owned {
		if v, ok := found[o.Name]; !ok || !equalVersions(v, o.Version) {
			faults = append(faults, &MergeError{o.Name, fmt.Sprintf("the new tree should have version %s of it, and has %q", value(o.Version), v)})
		}
		delete(found, o.Name)
	}
	for _, name := range sortedKeys(found) {
		faults = append(faults, &MergeError{name, "the new tree has it, and should not"})
	}
	return joinFaults(faults)
}
