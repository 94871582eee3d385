package envs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/internal/plain"
)

const (
	hostTime   = 60 * time.Second // a version manager's shim on a cold network home takes seconds
	hostOutput = 4 << 20
)

// hostError is a program of the host that failed.
type hostError struct {
	err  error
	tail string
}

func (e *hostError) Error() string {
	if e.tail == "" {
		return e.err.Error()
	}
	return e.err.Error() + ": " + e.tail
}

func (e *hostError) Unwrap() error { return e.err }

// emptyFolder makes a folder of ours with nothing in it. Interpreters take modules and settings from where they start, and the folder that the
// operator stands in may be a kernel's to write.
func (s *Store) emptyFolder() (path string, remove func(), err error) {
	if err := dirs.MakePrivate(s.Work); err != nil {
		return "", nil, err
	}
	if path, err = os.MkdirTemp(s.Work, "empty-"); err != nil {
		return "", nil, err
	}
	return path, func() { _ = removeTree(path) }, nil
}

// onHost runs a base interpreter, never one of an environment, and returns what it wrote to stdout.
func (s *Store) onHost(ctx context.Context, argv ...string) ([]byte, error) {
	dir, remove, err := s.emptyFolder()
	if err != nil {
		return nil, err
	}
	defer remove()
	ctx, cancel := context.WithTimeoutCause(ctx, hostTime, fmt.Errorf("no answer within %s", hostTime))
	defer cancel()
	var out, errs tail
	out.max, errs.max = hostOutput, 4<<10
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, s.hostEnv(dir), &out, &errs
	cmd.WaitDelay = time.Second // a shim's children may keep the pipes open
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, &hostError{err, plain.Line(errs.String(), 200)}
	}
	return out.buf.Bytes(), nil
}

// hostEnv is what a shim needs to find its interpreter, and nothing that would change what an interpreter imports.
func (s *Store) hostEnv(dir string) []string {
	env := []string{
		"PATH=" + s.getenv("PATH"), "LC_ALL=C.UTF-8", "LANGUAGE=en", "PYTHONDONTWRITEBYTECODE=1",
		// R reads its user's settings before any option of its command line could stop it.
		"R_ENVIRON_USER=" + filepath.Join(dir, "none"), "R_LIBS_USER=" + filepath.Join(dir, "none"),
	}
	for _, k := range []string{"HOME", "SYSTEMROOT", "USERPROFILE"} {
		if v := s.getenv(k); v != "" {
			env = append(env, k+"="+v)
		}
	}
	return env
}

// tail keeps the last max bytes.
type tail struct {
	buf bytes.Buffer
	max int
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > t.max {
		p = p[len(p)-t.max:]
	}
	if over := t.buf.Len() + len(p) - t.max; over > 0 {
		t.buf.Next(over)
	}
	t.buf.Write(p)
	return n, nil
}

func (t *tail) String() string { return t.buf.String() }

// isExecutable says why path cannot be started: nil when it can.
func isExecutable(path string) error {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !fi.Mode().IsRegular():
		return errors.New("it is no file")
	case !runnable(fi):
		return errors.New("it is not executable")
	}
	return nil
}
