package envs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

const (
	journalName   = "journal.json"
	incomingName  = "incoming"
	mergeLockName = "merge.lock"
	journalSchema = 1
	journalMost   = 256 << 20
)

// journal is a change that is decided and may be half done. It only goes forward: what still stands in the incoming folder is the list of what is to be
// done, and each step can be done twice. Whoever takes the merge lock and finds one finishes it first.
type journal struct {
	Schema   int          `json:"schema"`
	Tree     int          `json:"tree"` // the generation that the moves go to
	Moves    []moving     `json:"moves"`
	Touched  []touched    `json:"touched"`
	Manifest manifest     `json:"manifest"`
	Entry    HistoryEntry `json:"entry"`
}

// touched is a folder of the tree that gets new entries, with its time before. Python lists a folder again only when its time has moved, and some
// file systems count whole seconds.
type touched struct {
	Dir  string    `json:"dir"`
	Time time.Time `json:"time"`
}

// lockMerge takes the lock under which trees, manifest and link change. It is held for milliseconds, so everybody waits for it.
func lockMerge(ctx context.Context, dir string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(dir, mergeLockName), flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	return l, nil
}

// settle finishes what a killed process left half done in the environment's folder. It returns at once when there is nothing.
func settle(ctx context.Context, name, dir string) (err error) {
	if !unsettled(dir) {
		return nil
	}
	l, err := lockMerge(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	return settleLocked(name, dir)
}

// settleNow is settle for callers without a context: whoever holds the merge lock gives it back within milliseconds or is dead.
func settleNow(name, dir string) (err error) {
	if !unsettled(dir) {
		return nil
	}
	l := flock.New(filepath.Join(dir, mergeLockName), flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	return settleLocked(name, dir)
}

func unsettled(dir string) bool {
	for _, name := range []string{journalName, incomingName} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// settleLocked needs the merge lock: under it a journal has no living owner.
func settleLocked(name, dir string) error {
	j, err := readJournal(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return removeTree(filepath.Join(dir, incomingName)) // nothing was decided yet
	}
	if err == nil {
		err = j.finish(dir)
	}
	if err != nil {
		p := filepath.Join(dir, journalName)
		return &BrokenError{Name: name, What: "a change of it was cut off and cannot be finished", Path: p, Err: err}
	}
	return nil
}

func readJournal(dir string) (journal, error) {
	p := filepath.Join(dir, journalName)
	var j journal
	fi, err := os.Lstat(p)
	if err != nil {
		return j, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > journalMost {
		return j, fmt.Errorf("%s is no regular file of at most %d bytes", p, journalMost)
	}
	data, err := os.ReadFile(p)
	if err != nil {
		return j, err
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return j, fmt.Errorf("%s: %w", p, err)
	}
	if j.Schema != journalSchema {
		return j, fmt.Errorf("%s: schema is %d, not %d", p, j.Schema, journalSchema)
	}
	return j, j.check()
}

// check: the journal is ours, but nothing that it says may lead out of the environment's folder.
func (j journal) check() error {
	for _, m := range j.Moves {
		if !filepath.IsLocal(m.From) || !filepath.IsLocal(m.To) {
			return fmt.Errorf("the journal moves %q to %q", m.From, m.To)
		}
	}
	for _, t := range j.Touched {
		if !filepath.IsLocal(t.Dir) {
			return fmt.Errorf("the journal touches %q", t.Dir)
		}
	}
	return nil
}

// commit writes the journal and does what it says. From the moment that the file is there the change will happen.
func (j journal) commit(dir string) error {
	j.Schema = journalSchema
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := dirs.WriteFile(filepath.Join(dir, journalName), data, 0o600); err != nil {
		return err
	}
	return j.finish(dir)
}

func (j journal) finish(dir string) error {
	tree := filepath.Join(dir, "gen", strconv.Itoa(j.Tree))
	for _, m := range j.Moves {
		if err := m.redo(filepath.Join(dir, incomingName), tree); err != nil {
			return err
		}
	}
	for _, t := range j.Touched {
		if err := t.raise(tree); err != nil {
			return err
		}
	}
	e := j.Manifest.environment(dir)
	if err := e.point(); err != nil {
		return err
	}
	if err := writeManifest(e); err != nil {
		return err
	}
	if err := appendHistory(dir, j.Entry); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, journalName)); missingIsNone(err) != nil {
		return err
	}
	return removeTree(filepath.Join(dir, incomingName))
}
