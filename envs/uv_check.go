package envs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

const uvTime = 10 * time.Second

// checkUV returns the program that path leads to, or why it is not taken.
func (s *Store) checkUV(ctx context.Context, path string) (string, *Candidate) {
	if !filepath.IsAbs(path) {
		return "", &Candidate{path, "it is no absolute path", nil}
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = isExecutable(real)
	}
	if err != nil {
		return "", &Candidate{path, "it cannot be started", err}
	}
	if isScript(real) { // what it leads to is not in the sandbox
		return "", &Candidate{path, "it is a script and not uv itself", nil}
	}
	said, err := s.askUV(ctx, real)
	if err != nil {
		return "", &Candidate{path, "it does not run", err}
	}
	if !uvRecent(said) {
		return "", &Candidate{path, fmt.Sprintf("it says %q and not uv %d.%d or later", plain.Line(said, 60), uvOldest[0], uvOldest[1]), nil}
	}
	return real, nil
}

func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var first [2]byte
	_, err = io.ReadFull(f, first[:])
	return err == nil && first == [2]byte{'#', '!'}
}

// askUV asks the program for its version, in an empty folder and with an empty environment. It is the operator's own; all else that it does, it does
// in the sandbox.
func (s *Store) askUV(ctx context.Context, path string) (string, error) {
	dir, remove, err := s.emptyFolder()
	if err != nil {
		return "", err
	}
	defer remove()
	ctx, cancel := context.WithTimeoutCause(ctx, uvTime, errors.New("no answer within "+uvTime.String()))
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	out := tail{max: 4 << 10}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.WaitDelay = dir, []string{}, &out, time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

var uvAnswer = newForm(`\Auv ([0-9]+)\.([0-9]+)\.[0-9]`)

func uvRecent(said string) bool {
	m := uvAnswer.FindStringSubmatch(said)
	if m == nil {
		return false
	}
	major, err := strconv.Atoi(m[1])
	minor, err2 := strconv.Atoi(m[2])
	return err == nil && err2 == nil && (major > uvOldest[0] || major == uvOldest[0] && minor >= uvOldest[1])
}
