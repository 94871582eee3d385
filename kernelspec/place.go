package kernelspec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// aside makes an empty folder on the file system of target's parent and outside of it: Jupyter lists every folder in there.
func aside(target string) (string, error) {
	kernels, err := filepath.EvalSymlinks(filepath.Dir(target))
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(filepath.Dir(kernels), ".kernel-launch-")
}

// place makes the folder target with its files, in one step.
func place(target string, text []byte) error {
	tmp, err := aside(target)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, filepath.Base(target))
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	if err := writeFiles(made, text); err != nil {
		return err
	}
	return os.Rename(made, target)
}

// replace puts the new folder where old was. When that fails, old is put back.
func replace(old, target string, text []byte) error {
	tmp, err := aside(target)
	if err != nil {
		return err
	}
	kept := filepath.Join(tmp, "replaced")
	if err := os.Rename(old, kept); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := place(target, text); err != nil {
		if back := os.Rename(kept, old); back != nil {
			return errors.Join(err, fmt.Errorf("what it should have replaced is kept in %s: %w", kept, back))
		}
		return errors.Join(err, os.Remove(tmp))
	}
	return os.RemoveAll(tmp)
}

// Remove removes the spec in the folder dir, in one step for readers. One that kernel-launch did not write is a *ForeignError, one that does
// not exist wraps fs.ErrNotExist.
func Remove(dir string) error {
	if err := owned(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
		}
		return err
	}
	tmp, err := aside(dir)
	if err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(tmp, "removed")); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.RemoveAll(tmp)
}
