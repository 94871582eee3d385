package envs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// redo renames unless that was done already.
func (m moving) redo(stage, tree string) error {
	from, to := filepath.Join(stage, m.From), filepath.Join(tree, m.To)
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(to); err != nil {
			return fmt.Errorf("%s is neither staged nor there: %w", m.To, err)
		}
		return nil
	}
	return m.do(from, to)
}

func (m moving) do(from, to string) error {
	if m.replace {
		return os.Rename(from, to)
	}
	err := renameNew(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeFolder(filepath.Dir(to)); err == nil {
			err = renameNew(from, to)
		}
	}
	return err
}

// makeFolder makes a folder of a tree and its missing parents, whatever the umask of the day is.
func makeFolder(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeFolder(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, 0o755)
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return os.Chmod(dir, 0o755)
}

// raise moves the time by at least a whole second, so that every import system notices.
func (t touched) raise(tree string) error {
	at := filepath.Join(tree, t.Dir)
	fi, err := os.Stat(at)
	if err != nil {
		return err
	}
	later := fi.ModTime()
	if later.Before(t.Time) {
		later = t.Time
	}
	later = later.Add(time.Second)
	return os.Chtimes(at, later, later)
}

// touchedBy lists the folders of the tree that get new entries.
func touchedBy(tree string, moves []moving) (list []touched, err error) {
	seen := map[string]bool{}
	for _, m := range moves {
		dir := filepath.Dir(m.To)
		for {
			fi, err := os.Stat(filepath.Join(tree, dir))
			if err == nil {
				if !seen[dir] {
					list = append(list, touched{dir, fi.ModTime()})
				}
				seen[dir] = true
				break
			}
			if !errors.Is(err, fs.ErrNotExist) || dir == "." {
				return nil, err
			}
			dir = filepath.Dir(dir)
		}
	}
	return list, nil
}

// point makes the link lead to the current generation, in one step.
func (e *Environment) point() error {
	rel, err := filepath.Rel(e.dir, e.Tree())
	if err != nil {
		return err
	}
	if there, err := os.Readlink(e.Current()); err == nil && there == rel {
		return nil
	}
	next := e.Current() + ".next"
	if err := os.Remove(next); missingIsNone(err) != nil {
		return err
	}
	if err := os.Symlink(rel, next); err != nil {
		return err
	}
	return os.Rename(next, e.Current())
}
