package envs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// The options leave the administrator's Renviron in force, as a kernel has it, and nothing of the user's; --vanilla would drop both.
var rOptions = []string{"--no-site-file", "--no-init-file", "--no-save", "--no-restore", "--slave"}

const rQuestion = `cat("\nkernel-launch-probe\n", R.home(), "\n", paste(R.version$major, R.version$minor, sep="."), "\n", R.version$platform, "\n", paste0(.libPaths(), "\n"), sep="")`

// FindR returns the R that wanted names by path; empty is the first usable one on PATH.
func (s *Store) FindR(ctx context.Context, wanted string) (Interpreter, error) {
	failed := &InterpreterError{Language: R, Wanted: wanted}
	for _, p := range s.rPaths(wanted) {
		facts, c := s.askR(ctx, p)
		if c == nil {
			return facts, nil
		}
		failed.Candidates = append(failed.Candidates, c)
		if ctx.Err() != nil {
			return Interpreter{}, context.Cause(ctx)
		}
	}
	return Interpreter{}, failed
}

func (s *Store) rPaths(wanted string) []string {
	if strings.ContainsAny(wanted, `/\`) {
		if abs, err := filepath.Abs(wanted); err == nil {
			return []string{abs}
		}
	}
	if wanted == "" {
		wanted = "R"
	}
	var list []string
	for _, dir := range filepath.SplitList(s.getenv("PATH")) {
		for _, n := range []string{wanted, wanted + ".exe"} {
			if p := filepath.Join(dir, n); filepath.IsAbs(dir) && isExecutable(p) == nil && !alreadyIn(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

func alreadyIn(list []string, path string) bool {
	for _, p := range list {
		if sameFile(p, path) {
			return true
		}
	}
	return false
}

func (s *Store) askR(ctx context.Context, path string) (Interpreter, *Candidate) {
	if err := isExecutable(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return Interpreter{}, &Candidate{path, "not found", nil}
		}
		return Interpreter{}, &Candidate{path, "does not run", err}
	}
	id, idErr := identity(path)
	if idErr == nil {
		if facts, ok := s.cached(path, id, rQuestion, R); ok && allFolders(facts.Libraries) {
			return facts, nil
		}
	}
	out, err := s.onHost(ctx, append(append([]string{path}, rOptions...), "-e", rQuestion)...)
	if err != nil {
		return Interpreter{}, &Candidate{path, "does not run", err}
	}
	facts, err := parseR(path, out)
	if err != nil {
		return Interpreter{}, &Candidate{path, "does not run", err}
	}
	if idErr == nil {
		s.remember(path, id, rQuestion, facts)
	}
	return facts, nil
}

// allFolders: R lists only libraries that exist, so the answer ages with them.
func allFolders(paths []string) bool {
	for _, p := range paths {
		if fi, err := os.Stat(p); err != nil || !fi.IsDir() {
			return false
		}
	}
	return true
}

func parseR(path string, out []byte) (Interpreter, error) {
	_, answer, ok := bytes.Cut(out, []byte("\nkernel-launch-probe\n"))
	lines := strings.Split(strings.TrimSpace(string(answer)), "\n")
	if !ok || len(lines) < 4 {
		return Interpreter{}, errors.New("it did not answer the probe")
	}
	facts := Interpreter{Path: path, Prefix: lines[0], Version: lines[1], Implementation: "R", Platform: lines[2], Libraries: lines[3:]}
	return facts, errors.Join(facts.check(R)...)
}
