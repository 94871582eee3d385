package envs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// Remove deletes the environment of that name, damaged or not. While kernels run in it or something changes it: *BusyError.
func (s *Store) Remove(ctx context.Context, name string) (err error) {
	p, err := s.find(name)
	if err != nil {
		return err
	}
	names, err := s.lockNames(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, names.Unlock()) }()
	writer, err := lockWriter(p.name, p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return &NotFoundError{name}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writer.Unlock()) }()
	merge, err := lockMerge(ctx, p.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, merge.Unlock()) }()
	kernels, err := lockGenerations(p.name, p.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlockAll(kernels)) }()
	return discard(p.dir)
}

// gone marks a folder that is being deleted. No environment can have such a name.
const gone = ".gone-"

// discard deletes an environment's folder. It is moved out of the way first: it is there as a whole or not at all, and whoever makes one of that name
// meanwhile does not lose files to us.
func discard(dir string) error {
	away := filepath.Join(filepath.Dir(dir), gone+uuid.NewString())
	if err := os.Rename(dir, away); err != nil {
		return missingIsNone(err)
	}
	return removeTree(away)
}

// sweepGone finishes deletions that were cut off.
func (s *Store) sweepGone() error {
	var errs []error
	for _, l := range Languages() {
		left, err := filepath.Glob(filepath.Join(s.Root, l, gone+"*"))
		errs = append(errs, err)
		for _, dir := range left {
			errs = append(errs, removeTree(dir))
		}
	}
	return errors.Join(errs...)
}

// removeTree deletes dir, folders without write permission included. Links are removed, never followed.
func removeTree(dir string) error {
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // RemoveAll reports what really cannot go
		}
		if fi, err := d.Info(); err == nil && fi.Mode().Perm()&0o700 != 0o700 {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return errors.Join(err, os.RemoveAll(dir))
}
