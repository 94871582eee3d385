package envs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// stage is the only folder that an installer can write to.
type stage struct {
	dir  string
	lock *flock.Flock
}

func (t stage) out() string   { return filepath.Join(t.dir, "out") }
func (t stage) temp() string  { return filepath.Join(t.dir, "tmp") }
func (t stage) home() string  { return filepath.Join(t.dir, "home") }
func (t stage) empty() string { return filepath.Join(t.dir, "empty") }
func (t stage) log() string   { return filepath.Join(t.dir, "log") }

// newStage makes one and sweeps those that nobody holds any more. Its lock is older than its folder, so a folder without an owner is never young.
func (s *Store) newStage() (stage, error) {
	root := filepath.Join(s.Work, "stage")
	if err := dirs.MakePrivate(s.Work); err != nil {
		return stage{}, err
	}
	if err := dirs.MakePrivate(root); err != nil {
		return stage{}, err
	}
	s.sweepEmpty()
	if err := sweepStages(root); err != nil {
		return stage{}, err
	}
	t := stage{dir: filepath.Join(root, uuid.NewString()[:13])}
	l, ok, err := openLock(t.dir+".lock", true, os.O_CREATE|os.O_RDWR)
	if err != nil || !ok {
		return stage{}, errors.Join(err, fs.ErrExist)
	}
	t.lock = l
	for _, d := range []string{t.dir, t.out(), t.temp(), t.home(), t.empty()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return stage{}, errors.Join(err, t.remove())
		}
	}
	return t, nil
}

func (t stage) remove() error {
	return errors.Join(removeTree(t.dir), os.Remove(t.dir+".lock"), t.lock.Unlock())
}

// sweepEmpty removes the empty folders that interrupted probes left; those of running ones are younger.
func (s *Store) sweepEmpty() {
	left, err := filepath.Glob(filepath.Join(s.Work, "empty-*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		if fi, err := os.Lstat(dir); err == nil && time.Since(fi.ModTime()) > time.Hour {
			_ = os.Remove(dir)
		}
	}
}

func sweepStages(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, isLock := strings.CutSuffix(e.Name(), ".lock")
		if !isLock {
			continue
		}
		t := stage{dir: filepath.Join(root, id)}
		l, ok, err := openLock(t.dir+".lock", true, os.O_RDWR)
		if err != nil || !ok {
			continue // somebody's, or just swept by somebody else
		}
		t.lock = l
		if err := t.remove(); err != nil {
			return err
		}
	}
	return nil
}
