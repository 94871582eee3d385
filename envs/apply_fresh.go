package envs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/kernel-launch/kernel-launch/restart"
)

// bringFresh plans, stages and merges into an environment that is being made. It has no manifest yet, so what a crash leaves is no environment: there is
// no journal, and no kernel to think of.
func (s *Store) bringFresh(ctx context.Context, e *Environment, names ...string) (err error) {
	p, err := s.prepare(ctx, e, Request{Add: names})
	if err != nil || len(p.Files) == 0 {
		return err
	}
	a := application{store: s, e: e, plan: p, before: p.Before}
	if a.stage, err = s.newStage(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.stage.remove()) }()
	if err := a.fetch(ctx); err != nil {
		return err
	}
	if err := a.fill(e); err != nil {
		return err
	}
	e.Owned = a.ownedAfter()
	return nil
}

// mergeFresh merges what an installer left that was not told what to bring.
func mergeFresh(e *Environment, out string) error {
	d, err := inspect(e, out, nil, nil)
	if err != nil {
		return err
	}
	met := d.meet(e.Tree(), false, func(string) string { return "" })
	if err := joinFaults(met.faults); err != nil {
		return err
	}
	return d.moveInto(e.Tree(), nil)
}

// moveInto does the moves where nobody looks.
func (d *delivery) moveInto(tree string, replaced map[string]bool) error {
	for _, m := range d.moves(tree, replaced) {
		if err := m.do(filepath.Join(d.out, m.From), filepath.Join(tree, m.To)); err != nil {
			return err
		}
	}
	return nil
}

// begin writes the first line of the history: what the environment was made with.
func (e *Environment) begin() error {
	after, err := e.Snapshot()
	if err != nil {
		return err
	}
	before := after
	before.Packages = nil
	for _, p := range after.Packages {
		if p.Owner == OwnerBase {
			before.Packages = append(before.Packages, p)
		}
	}
	if _, err := os.Lstat(filepath.Join(e.dir, historyName)); err == nil {
		return nil
	}
	return appendHistory(e.dir, HistoryEntry{
		ID: uuid.NewString(), Time: time.Now().UTC().Truncate(time.Second), Generation: e.Generation,
		Changes: restart.Diff(before, after), Requested: e.Requested, Owned: e.Owned,
	})
}
