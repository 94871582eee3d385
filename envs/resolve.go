package envs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/kernel-launch/kernel-launch/restart"
)

// Prepare finds out what a request would change. Nothing is written to the environment and nothing is locked. The errors are *NotFoundError,
// *LanguageError, *RequirementError (all of them, joined), *NoUVError, *ResolveError, or of the file system and the sandbox.
func (s *Store) Prepare(ctx context.Context, name string, r Request) (*Plan, error) {
	e, err := s.Get(name)
	if err != nil {
		return nil, err
	}
	if e.Language != Python {
		return nil, &LanguageError{e.Language}
	}
	for range changesMost {
		p, err := s.prepare(ctx, e, r)
		if !errors.Is(err, errMoved) {
			return p, err
		}
	}
	return nil, &BusyError{e.Name, "it changes while it is looked at"}
}

const changesMost = 3

var errMoved = errors.New("the environment changed while it was looked at")

// prepare takes its snapshot while the index is asked: neither waits for the other.
func (s *Store) prepare(ctx context.Context, e *Environment, r Request) (*Plan, error) {
	w := &work{store: s, env: e, request: r}
	if err := w.readRequest(); err != nil {
		return nil, err
	}
	w.snapshot = sync.OnceValues(e.Snapshot)
	go w.snapshot()
	defer w.snapshot()
	if err := w.readView(); err != nil {
		return nil, err
	}
	w.moves = w.view.moving(w.wanted)
	if w.view.holdsAll(w.wanted) {
		return w.plan(nil)
	}
	return w.ask(ctx)
}

// work is one request on its way to a plan.
type work struct {
	store   *Store
	env     *Environment
	request Request

	wanted   []requirement // those whose marker holds here
	remove   []string      // normalised names
	notes    []string
	snapshot func() (restart.Snapshot, error)
	before   restart.Snapshot   // its answer, once there is a plan
	all      map[string]visible // what is visible
	view     scenery            // what is visible, less what goes
	base     map[string]visible // what is seen again when the names that go are gone; nil when none goes
	moves    map[string]bool    // visible names that the request itself moves
}

func (w *work) readRequest() error {
	if len(w.request.Add)+len(w.request.Remove) == 0 {
		return &RequirementError{"", "nothing is asked for"}
	}
	all, err := parseRequirements(w.request.Add)
	errs := []error{err}
	for _, r := range all {
		if r.applies(w.env.Interpreter.markers()) {
			w.wanted = append(w.wanted, r)
		} else {
			w.notes = append(w.notes, r.text+" is not meant for this interpreter")
		}
	}
	for _, text := range w.request.Remove {
		r, err := parseAsked(text)
		if err == nil && (len(r.extras) > 0 || len(r.specs) > 0 || r.marker != nil) {
			err = &RequirementError{text, "what goes is named by its name alone"}
		}
		if errs = append(errs, err); err == nil && !slices.Contains(w.remove, r.name) {
			w.remove = append(w.remove, r.name)
		}
	}
	return errors.Join(errs...)
}

func (w *work) readView() (err error) {
	w.view.env = w.env.Interpreter.markers()
	if w.all, err = w.env.visibles(); err != nil {
		return err
	}
	w.view.packages = maps.Clone(w.all)
	if len(w.remove) == 0 {
		return nil
	}
	if w.base, err = w.env.inherited(); err != nil {
		return err
	}
	var errs []error
	for _, name := range w.remove {
		errs = append(errs, w.takeOut(name))
	}
	return errors.Join(errs...)
}

// settle has the snapshot, if it shows what was planned with.
func (w *work) settle() (err error) {
	if w.before, err = w.snapshot(); err != nil {
		return err
	}
	known := 0
	for _, p := range w.before.Packages {
		v, ok := w.all[p.Name]
		if ok && v.Version != p.Version {
			return errMoved
		}
		if ok {
			known++
		}
	}
	if known != len(w.all) {
		return errMoved
	}
	return nil
}

// takeOut takes a name out of the view, and puts what is then seen under it into its place.
func (w *work) takeOut(name string) error {
	there, ok := w.view.packages[name]
	switch {
	case !ok:
		return &RequirementError{name, "it is not installed"}
	case there.Owner != OwnerEnv:
		return &RequirementError{name, "it belongs to the interpreter, not to the environment"}
	}
	delete(w.view.packages, name)
	if under, ok := w.base[name]; ok {
		w.view.packages[name] = under
	}
	return nil
}

// ask has the index answer.
func (w *work) ask(ctx context.Context) (p *Plan, err error) {
	if w.store.Exec == nil {
		return nil, errNoSandbox
	}
	r := &resolver{work: w}
	if r.uv, err = w.store.uv(ctx); err != nil {
		return nil, err
	}
	if r.gateway, err = NewGateway(w.store.Index, w.store.Client); err != nil {
		return nil, err
	}
	if r.stage, err = w.store.newStage(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.stage.remove()) }()
	if err := r.prepare(); err != nil {
		return nil, err
	}
	return w.answer(ctx, r)
}
