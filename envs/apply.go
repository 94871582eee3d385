package envs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/kernel-launch/kernel-launch/restart"
)

// Result is what an applied plan did.
type Result struct {
	Environment   *Environment // as it is now
	Before, After restart.Snapshot
	Changes       restart.Changes // from Before to After, as found
	Additive      bool
	InPlace       bool // in the tree that running kernels have; false: in a new generation
	Generation    int
	Hooks         []restart.Hook // startup hooks that were not there before
}

// Apply does what the plan says or nothing. A plan that is additive goes into the current tree, and what running kernels have loaded stays as it is;
// any other makes a new generation beside it. The errors are *NotFoundError, *BrokenError, *BusyError, *ExpiredError, *ChangedError, *InstallError
// (an *UpstreamError or *MergeError in it says why), or of the file system.
func (s *Store) Apply(ctx context.Context, p *Plan) (_ *Result, err error) {
	e, err := s.Get(p.Environment)
	if err != nil {
		return nil, err
	}
	if e.Language != Python {
		return nil, &LanguageError{e.Language}
	}
	if !p.Expires.IsZero() && time.Now().After(p.Expires) {
		return nil, &ExpiredError{p.ID, p.Expires.Format(time.RFC3339)}
	}
	writer, err := lockWriter(e.Name, e.dir)
	if err != nil {
		return nil, explainBusy(e.dir, err)
	}
	defer func() { err = errors.Join(err, writer.Unlock()) }()
	if err := settle(ctx, e.Name, e.dir); err != nil {
		return nil, err
	}
	if e, err = readManifest(e.dir, e.Name, e.Language); err != nil {
		return nil, err
	}
	a := application{store: s, e: e, plan: p, id: uuid.NewString()}
	return a.claimed(ctx)
}

// application is one plan under way. Its owner holds the writer's lock.
type application struct {
	store *Store
	e     *Environment // as it was
	plan  *Plan
	id    string

	before restart.Snapshot
	stage  stage
	goods  *delivery        // nil: nothing comes
	view   restart.Snapshot // before, with the goods in it
}

func (a *application) claimed(ctx context.Context) (*Result, error) {
	if err := a.compare(); err != nil {
		return nil, err
	}
	if len(a.plan.Files) == 0 && len(a.plan.Remove) == 0 {
		return a.result(a.e, true)
	}
	c := newClaim(a.e.Name, a.plan.ID)
	if err := c.write(a.e.dir); err != nil {
		return nil, err
	}
	r, err := a.run(ctx)
	if err != nil {
		return nil, errors.Join(err, c.failed(a.e.dir, err))
	}
	return r, c.remove(a.e.dir)
}

// compare says what is different from what the plan stands on.
func (a *application) compare() (err error) {
	if a.before, err = a.e.Snapshot(); err != nil {
		return err
	}
	if DigestOf(a.before) == a.plan.Base {
		return nil
	}
	return &ChangedError{Name: a.e.Name, Plan: a.plan.ID, Why: changedSince, Changes: restart.Diff(a.plan.Before, a.before)}
}

func (a *application) run(ctx context.Context) (_ *Result, err error) {
	if len(a.plan.Files) > 0 {
		if a.stage, err = a.store.newStage(); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, a.stage.remove()) }()
		if err := a.fetch(ctx); err != nil {
			return nil, err
		}
	}
	return a.merge(ctx)
}

// fetch fills the stage and looks at all that is in it.
func (a *application) fetch(ctx context.Context) error {
	if a.store.Exec == nil {
		return &InstallError{Packages: plannedNames(a.plan.Files), Err: errNoSandbox}
	}
	uv, err := a.store.uv(ctx)
	if err != nil {
		return err
	}
	frame, err := a.store.stageFiles(ctx, a.e, a.stage, uv, a.plan.Files)
	if err != nil {
		return err
	}
	return a.look(frame)
}

// look believes what is in the stage and nothing that is said about it.
func (a *application) look(frame []framePart) (err error) {
	if a.goods, err = inspect(a.e, a.stage.out(), frame, a.wanted()); err != nil {
		return a.refused(err)
	}
	a.view = a.preview()
	return nil
}

func (a *application) merge(ctx context.Context) (*Result, error) {
	if a.plan.Additive {
		return a.inPlace(ctx)
	}
	return a.beside(ctx)
}

func (a *application) wanted() (list []Owned) {
	for _, f := range a.plan.Files {
		list = append(list, Owned{Name: f.Name, Version: f.Version})
	}
	return list
}

func (a *application) refused(err error) error {
	if err == nil {
		return nil
	}
	return &InstallError{Packages: plannedNames(a.plan.Files), Err: err}
}

// inPlace merges into the tree that kernels run in. What would change anything that they have is refused.
func (a *application) inPlace(ctx context.Context) (*Result, error) {
	m := a.goods.meet(a.e.Tree(), false, ownerOf(a.before, a.e))
	if err := joinFaults(m.faults); err != nil {
		return nil, a.refused(err)
	}
	changes := restart.Diff(a.before, without(a.view, a.e, m.kept))
	if !changes.Additive() {
		return nil, &ChangedError{Name: a.e.Name, Plan: a.plan.ID, Why: changedWorse, Changes: breaking(changes)}
	}
	if err := syncTree(a.stage.out()); err != nil {
		return nil, err
	}
	now := a.changed(a.e)
	j := a.journal(now, changes)
	j.Moves = a.goods.moves(a.e.Tree(), nil)
	if err := a.commit(ctx, j); err != nil {
		return nil, err
	}
	return a.result(now, true)
}

// beside makes the next generation. Kernels that run keep theirs.
func (a *application) beside(ctx context.Context) (_ *Result, err error) {
	drop, err := a.e.leaving(a.leavingNames())
	if err != nil {
		return nil, a.refused(err)
	}
	next, err := a.e.newGeneration(drop)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, next.scrap(next.Generation))
		}
	}()
	if err := a.fill(next); err != nil {
		return nil, err
	}
	now := a.changed(next)
	after, err := now.Snapshot()
	if err != nil {
		return nil, err
	}
	if err := now.verify(after); err != nil {
		return nil, err
	}
	if err := syncTree(now.Tree()); err != nil {
		return nil, err
	}
	if err := a.commit(ctx, a.journal(now, restart.Diff(a.before, after))); err != nil {
		return nil, err
	}
	r, err := a.result(now, false)
	return r, errors.Join(err, now.collect())
}

// leavingNames are what the plan removes, and what it brings in another version.
func (a *application) leavingNames() []string {
	names := slices.Clone(a.plan.Remove)
	for _, f := range a.plan.Files {
		i, ok := slices.BinarySearchFunc(a.before.Packages, f.Name, func(p restart.Package, name string) int { return strings.Compare(p.Name, name) })
		if ok && a.before.Packages[i].Owner == OwnerEnv {
			names = append(names, f.Name)
		}
	}
	for i, n := range names {
		names[i] = normalName(n)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fill moves the goods into a tree that nobody sees yet.
func (a *application) fill(next *Environment) error {
	if a.goods == nil {
		return nil
	}
	met := a.goods.meet(next.Tree(), true, ownerOf(a.before, a.e))
	if err := joinFaults(met.faults); err != nil {
		return a.refused(err)
	}
	return a.goods.moveInto(next.Tree(), met.replaced)
}

// commit is the moment of the change. Before it a crash leaves the environment as it was, after it as it will be.
func (a *application) commit(ctx context.Context, j journal) (err error) {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	l, err := lockMerge(ctx, a.e.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	if err := settleLocked(a.e.Name, a.e.dir); err != nil {
		return err
	}
	if len(j.Moves) > 0 {
		if j.Touched, err = touchedBy(a.e.Tree(), j.Moves); err != nil {
			return err
		}
		if err := os.Rename(a.goods.out, filepath.Join(a.e.dir, incomingName)); err != nil {
			return err
		}
	}
	return j.commit(a.e.dir)
}
