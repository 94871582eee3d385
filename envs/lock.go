package envs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const lockName = "lock"

// openLock locks path without waiting. ok is false when somebody else has it. A file that was removed or replaced between opening and locking
// protects nothing any more: that is fs.ErrNotExist.
func openLock(path string, exclusive bool, flags int) (l *flock.Flock, ok bool, err error) {
	l = flock.New(path, flock.SetFlag(flags), flock.SetPermissions(0o600))
	try := l.TryRLock
	if exclusive {
		try = l.TryLock
	}
	if ok, err = try(); err != nil || !ok {
		return nil, false, err
	}
	held, err := l.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Lstat(path); err == nil && !os.SameFile(held, there) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		return nil, false, errors.Join(fmt.Errorf("lock %s: %w", path, err), l.Unlock())
	}
	return l, true, nil
}

// lockNames is held while a name is looked up and its folder made, so that two names that differ in case never both appear.
func (s *Store) lockNames(ctx context.Context) (*flock.Flock, error) {
	l := flock.New(filepath.Join(s.Root, "names.lock"), flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	return l, nil
}

// lockWriter takes the lock of whoever changes the environment in dir.
func lockWriter(name, dir string) (*flock.Flock, error) {
	l, ok, err := openLock(filepath.Join(dir, lockName), true, os.O_CREATE|os.O_RDWR)
	if err == nil && !ok {
		err = &BusyError{name, "something else is changing it"}
	}
	return l, err
}

// Hold keeps the tree of the generation in place while a kernel runs. It waits for a merge that is under way and finishes one that was cut off, so that
// no kernel starts in half of one. release gives the tree back and can be called once; the last to leave a former generation frees it.
// *NotFoundError: the environment, or this generation of it, is gone; see Store.Take.
func (e *Environment) Hold() (release func() error, err error) {
	merge, err := e.quiet()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, merge.Unlock()) }()
	l, ok, err := openLock(e.genLock(e.Generation), false, os.O_RDWR)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &NotFoundError{e.Name}
	case err != nil:
		return nil, err
	case !ok:
		return nil, &BusyError{e.Name, "it is being removed"}
	}
	return func() error { return errors.Join(l.Unlock(), e.leave()) }, nil
}

// quiet takes the merge lock for reading, with nothing left to finish.
func (e *Environment) quiet() (*flock.Flock, error) {
	l := flock.New(filepath.Join(e.dir, mergeLockName), flock.SetPermissions(0o600))
	for range quietTries {
		if err := settleNow(e.Name, e.dir); err != nil {
			return nil, err
		}
		if err := l.RLock(); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = &NotFoundError{e.Name}
			}
			return nil, err
		}
		if _, err := os.Lstat(filepath.Join(e.dir, journalName)); err != nil {
			return l, nil
		}
		if err := l.Unlock(); err != nil { // its writer was killed since
			return nil, err
		}
	}
	return nil, &BusyError{e.Name, "changes of it are cut off again and again"}
}

const quietTries = 100

// lockGenerations takes every generation's lock from the kernels, or says that some run.
func lockGenerations(name, dir string) (held []*flock.Flock, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, "gen"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		n, isLock := strings.CutSuffix(e.Name(), ".lock")
		if _, err := strconv.Atoi(n); !isLock || err != nil {
			continue
		}
		l, ok, err := openLock(filepath.Join(dir, "gen", e.Name()), true, os.O_RDWR)
		if err == nil && !ok {
			err = &BusyError{name, "kernels run in its generation " + n}
		}
		if err != nil {
			return nil, errors.Join(err, unlockAll(held))
		}
		held = append(held, l)
	}
	return held, nil
}

func unlockAll(held []*flock.Flock) error {
	var errs []error
	for _, l := range held {
		errs = append(errs, l.Unlock())
	}
	return errors.Join(errs...)
}
