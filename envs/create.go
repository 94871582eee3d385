package envs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// CreateOptions say what to make. The zero value of all but Name is a Python environment that inherits from the first usable python3 on PATH.
type CreateOptions struct {
	Name     string
	Language string // Python (default) or R
	Python   string // an interpreter's version ("3.11"), command or path; for R a command or path. Empty: the first usable one on PATH
	Isolated bool   // see nothing that the interpreter has installed
}

// Create makes an environment and brings in its kernel package when the interpreter does not have it. The manifest is written last: what a crash or
// an error leaves is no environment. The errors are *NameError, *LanguageError, *ExistsError, *BusyError, *InterpreterError, *NoKernelError, or
// of the file system.
func (s *Store) Create(ctx context.Context, o CreateOptions) (*Environment, error) {
	if o.Language == "" {
		o.Language = Python
	}
	if err := errors.Join(CheckName(o.Name), checkLanguage(o.Language)); err != nil {
		return nil, err
	}
	if p, err := s.find(o.Name); err == nil { // before an interpreter is started for nothing
		return nil, &ExistsError{p.name, p.language}
	}
	e := &Environment{Name: o.Name, Language: o.Language, Mode: Inherit, Generation: 1, Created: time.Now().UTC().Truncate(time.Second), dir: s.dir(o.Language, o.Name)}
	if o.Isolated {
		e.Mode = Isolated
	}
	var err error
	if e.Interpreter, err = s.findInterpreter(ctx, o); err != nil {
		return nil, err
	}
	writer, err := s.claim(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := s.build(ctx, e); err != nil {
		return nil, errors.Join(err, discard(e.dir), writer.Unlock())
	}
	s.readyUV(ctx, e)
	return e, writer.Unlock()
}

// readyTime is what a new environment waits at most for a uv that it does not need yet.
const readyTime = 30 * time.Second

// readyUV: whatever keeps uv away makes the environment no worse, and the first install says what it was.
func (s *Store) readyUV(ctx context.Context, e *Environment) {
	if e.Language != Python || s.Exec == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	_ = s.BringUV(ctx)
}

func (s *Store) findInterpreter(ctx context.Context, o CreateOptions) (Interpreter, error) {
	if o.Language == R {
		return s.FindR(ctx, o.Python)
	}
	return s.FindPython(ctx, o.Python)
}

// claim makes the environment's folder and takes its lock. What an interrupted create left under the name is swept: nobody holds its lock.
func (s *Store) claim(ctx context.Context, e *Environment) (writer *flock.Flock, err error) {
	if err := dirs.MakePrivate(s.Root); err != nil {
		return nil, err
	}
	names, err := s.lockNames(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, names.Unlock()) }()
	if err := errors.Join(s.sweepGone(), s.sweepName(e.Name)); err != nil {
		return nil, err
	}
	if err := dirs.MakePrivate(filepath.Dir(e.dir)); err != nil {
		return nil, err
	}
	if err := dirs.MakePrivate(e.dir); err != nil {
		return nil, err
	}
	return lockWriter(e.Name, e.dir)
}

func (s *Store) sweepName(name string) error {
	all, err := s.places()
	if err != nil {
		return err
	}
	for _, p := range all {
		if !strings.EqualFold(p.name, name) {
			continue
		}
		if p.finished() {
			return &ExistsError{p.name, p.language}
		}
		l, err := lockWriter(p.name, p.dir)
		if err != nil {
			return err
		}
		if err := errors.Join(discard(p.dir), l.Unlock()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) build(ctx context.Context, e *Environment) error {
	if err := s.layOut(ctx, e); err != nil {
		return err
	}
	if err := s.ensureKernel(ctx, e); err != nil {
		return err
	}
	if err := e.Check(); err != nil {
		return err
	}
	if err := e.begin(); err != nil {
		return err
	}
	if err := syncTree(e.dir); err != nil {
		return err
	}
	return writeManifest(e)
}

// layOut makes the tree, its lock beside it and the link that points at it. The tree is made where the link will stand, so that what it says about
// itself is the path at which kernels see it: venv refuses to work through a link.
func (s *Store) layOut(ctx context.Context, e *Environment) error {
	if err := dirs.MakePrivate(filepath.Dir(e.Tree())); err != nil {
		return err
	}
	if err := dirs.WriteFile(e.genLock(e.Generation), nil, 0o600); err != nil {
		return err
	}
	if err := s.makeTree(ctx, e); err != nil {
		return err
	}
	if err := os.Rename(e.Current(), e.Tree()); err != nil {
		return err
	}
	rel, err := filepath.Rel(e.dir, e.Tree())
	if err != nil {
		return err
	}
	if err := os.Symlink(rel, e.Current()); err != nil || e.Language != Python {
		return err
	}
	return checkVenv(e)
}

func (s *Store) makeTree(ctx context.Context, e *Environment) error {
	if e.Language == Python {
		return s.makeVenv(ctx, e)
	}
	if err := os.Mkdir(e.Current(), 0o755); err != nil {
		return err
	}
	return tameModes(e.Current())
}
