package inner

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// find looks name up in the PATH that the program gets. The error comes with the status to end with, which is a shell's.
func find(name, path string) (found string, status int, err error) {
	if strings.Contains(name, "/") {
		found, err = exec.LookPath(name)
		return outcome(name, found, err)
	}
	err = fs.ErrNotExist
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // the working folder is the program's to write
		}
		found, e := exec.LookPath(filepath.Join(dir, name))
		if e == nil {
			return found, 0, nil
		}
		if errors.Is(e, fs.ErrPermission) {
			err = e
		}
	}
	return outcome(name, "", err)
}

func outcome(name, found string, err error) (string, int, error) {
	switch {
	case err == nil:
		return found, 0, nil
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR):
		return "", exitNoExec, fmt.Errorf("%s cannot be executed", name)
	}
	return "", exitNotFound, fmt.Errorf("%s is not there", name)
}

// statusOf is the status for an exec that failed.
func statusOf(err error) int {
	if errors.Is(err, fs.ErrNotExist) {
		return exitNotFound
	}
	return exitNoExec
}

// variable is the value of name in env; the last one counts.
func variable(env []string, name string) (value string) {
	for _, v := range env {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}
