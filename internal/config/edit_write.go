package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// BusyError is an edit that had to wait for another one longer than its context allowed.
type BusyError struct {
	File string
	Err  error
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s is being edited by another process: %v", e.File, e.Err)
}

func (e *BusyError) Unwrap() error { return e.Err }

// Edit makes a change and writes it. Edits of several processes wait for each other; a reader sees the file before or after, whole.
func Edit(ctx context.Context, s Sources, c Change) (*Edited, error) {
	file, err := target(s.User)
	if err != nil {
		return nil, err
	}
	lock := flock.New(file+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		if ctx.Err() != nil {
			return nil, &BusyError{File: s.User, Err: err}
		}
		return nil, fmt.Errorf("configuration: %w", err)
	}
	defer lock.Close()
	for {
		e, err := Preview(s, c)
		if err != nil || !e.Changed {
			return e, err
		}
		if e.stale() {
			select {
			case <-ctx.Done():
				return nil, &BusyError{File: s.User, Err: context.Cause(ctx)}
			case <-time.After(10 * time.Millisecond):
			}
			continue
		}
		if err := dirs.WriteFile(file, e.text, 0o600); err != nil {
			return nil, fmt.Errorf("configuration: %w", err)
		}
		return e, nil
	}
}

// SaveTime is how long a file that has just been emptied is taken for one that is being saved in place.
const SaveTime = 300 * time.Millisecond

// stale is true when somebody who knows nothing of the lock has saved the file since it was read, or is about to: a person with an editor.
func (e *Edited) stale() bool {
	if info, err := os.Stat(e.File); err == nil && info.Size() == 0 && time.Since(info.ModTime()) < SaveTime {
		return true
	}
	now, err := os.ReadFile(e.File)
	return err != nil && (e.before != nil || !errors.Is(err, fs.ErrNotExist)) || !bytes.Equal(now, e.before)
}

// target is the file that is written: a link to it stays a link. Its folder is made when it is missing, and nobody else may be able to write there.
func target(file string) (string, error) {
	real, err := filepath.EvalSymlinks(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(file); err == nil {
			return "", &InsecureError{File: file, Path: file, Reason: "is a link to nowhere"}
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", fmt.Errorf("configuration: %w", err)
		}
		return file, checkTrust(filepath.Dir(file), self())
	case err != nil:
		return "", fmt.Errorf("configuration: %w", err)
	}
	return real, checkTrust(file, self())
}
