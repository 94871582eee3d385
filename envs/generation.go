package envs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// newGeneration makes a tree that is e's less what drop names, with files shared between the two: nothing in a tree is ever written to. It is nobody's
// until the manifest names it; what a crash leaves is collected. The writer's lock must be held.
func (e *Environment) newGeneration(drop map[string]bool) (next *Environment, err error) {
	numbers, err := e.generations()
	if err != nil {
		return nil, err
	}
	copied := *e
	next = &copied
	for _, n := range append(numbers, e.Generation) {
		next.Generation = max(next.Generation, n+1)
	}
	if err := dirs.WriteFile(next.genLock(next.Generation), nil, 0o600); err != nil {
		return nil, err
	}
	if err := cloneTree(e.Tree(), next.Tree(), drop); err != nil {
		return nil, errors.Join(fmt.Errorf("generation %d of %s: %w", next.Generation, e.Name, err), next.scrap(next.Generation))
	}
	return next, nil
}

// generations lists the numbers that are taken, by a tree or by a lock.
func (e *Environment) generations() (numbers []int, err error) {
	entries, err := os.ReadDir(filepath.Join(e.dir, "gen"))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if n, err := strconv.Atoi(strings.TrimSuffix(entry.Name(), ".lock")); err == nil && n > 0 {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}

// cloneTree makes to. Folders that drop leaves without a file are not made.
func cloneTree(from, to string, drop map[string]bool) error {
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "clone", Path: to, Err: fs.ErrExist}
	}
	if err := makeFolder(to); err != nil {
		return err
	}
	c := cloner{from: from, to: to, drop: drop}
	return c.folder("")
}

type cloner struct {
	from, to string
	drop     map[string]bool
}

func (c cloner) folder(rel string) error {
	entries, err := os.ReadDir(filepath.Join(c.from, rel))
	if err != nil {
		return err
	}
	made := rel == ""
	if len(entries) == 0 {
		return makeFolder(filepath.Join(c.to, rel))
	}
	for _, entry := range entries {
		at := filepath.Join(rel, entry.Name())
		if c.drop[at] {
			continue
		}
		if entry.IsDir() {
			if err := c.folder(at); err != nil {
				return err
			}
			continue
		}
		if !made {
			if err := makeFolder(filepath.Join(c.to, rel)); err != nil {
				return err
			}
			made = true
		}
		if err := c.file(at, entry.Type()); err != nil {
			return err
		}
	}
	return nil
}

func (c cloner) file(rel string, kind fs.FileMode) error {
	from, to := filepath.Join(c.from, rel), filepath.Join(c.to, rel)
	switch {
	case kind.IsRegular():
		if os.Link(from, to) == nil {
			return nil
		}
		return copyFile(from, to) // too many links, or a file system without them
	case kind&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	return &MergeError{rel, "the environment has something there that is neither a file, a folder nor a link"}
}

// copyFile keeps the time: bytecode is valid for one.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fi.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, fi.ModTime(), fi.ModTime())
}

// collect frees the generations that nobody can start in any more and that no kernel holds. The writer's lock must be held: a generation that is being
// built is held by nobody else.
func (e *Environment) collect() error {
	numbers, err := e.generations()
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range numbers {
		if n != e.Generation {
			errs = append(errs, e.scrap(n))
		}
	}
	left, err := filepath.Glob(filepath.Join(e.dir, "gen", gone+"*"))
	errs = append(errs, err)
	for _, dir := range left {
		errs = append(errs, removeTree(dir))
	}
	return errors.Join(errs...)
}

// scrap removes one generation unless it is held. Its lock goes while it is held, so that nobody who waits for it gets one that protects nothing.
func (e *Environment) scrap(n int) error {
	l, ok, err := openLock(e.genLock(n), true, os.O_CREATE|os.O_RDWR)
	if err != nil || !ok {
		return missingIsNone(err)
	}
	away := filepath.Join(e.dir, "gen", gone+uuid.NewString())
	err = missingIsNone(os.Rename(e.TreeOf(n), away))
	if err == nil {
		err = os.Remove(e.genLock(n))
	}
	return errors.Join(err, l.Unlock(), removeTree(away))
}

// leave is what the last kernel of an old generation does: nobody needs its tree any more. Whoever changes the environment just now does it instead.
func (e *Environment) leave() error {
	if e.isCurrent() {
		return nil
	}
	l, err := lockWriter(e.Name, e.dir)
	var busy *BusyError
	switch {
	case errors.As(err, &busy), errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	now, err := readManifest(e.dir, e.Name, e.Language)
	if err == nil && now.Generation != e.Generation {
		err = now.scrap(e.Generation)
	}
	return errors.Join(missingIsNone(err), l.Unlock())
}

func (e *Environment) isCurrent() bool {
	target, err := os.Readlink(e.Current())
	return err != nil || filepath.Base(target) == strconv.Itoa(e.Generation)
}
