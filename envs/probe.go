package envs

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// probeQuestion runs under -I -S: no .pth file, no sitecustomize.py, no folder of the user has a say.
//
//go:embed probe.py
var probeQuestion string

const (
	probeMark   = "kernel-launch-probe "
	probeSteps  = 8 // shims that lead to shims
	pythonFloor = 9 // 3.9: older kernels are out of support, and the tree is told apart by sys.platlibdir
)

// probePython returns the facts of the base interpreter that path leads to: shims and virtual environments are followed.
func (s *Store) probePython(ctx context.Context, path string) (Interpreter, *Candidate) {
	asked := path
	for range probeSteps {
		base, err := baseOf(path)
		if err != nil {
			return Interpreter{}, &Candidate{asked, "its virtual environment has no base", err}
		}
		facts, c := s.askPython(ctx, base)
		if c != nil {
			return Interpreter{}, c
		}
		if sameFile(facts.Path, base) {
			facts.Path = minorName(base, facts.Version)
			return facts, usable(asked, facts)
		}
		path = facts.Path
	}
	return Interpreter{}, &Candidate{asked, fmt.Sprintf("it leads on to another program %d times", probeSteps), nil}
}

// askPython answers from the cache, else by starting path. A program that is not itself the interpreter (a shim) answers differently in another
// folder or on another day, so its answer is not kept.
func (s *Store) askPython(ctx context.Context, path string) (Interpreter, *Candidate) {
	if err := isExecutable(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return Interpreter{}, &Candidate{path, "not found", nil}
		}
		return Interpreter{}, &Candidate{path, "does not run", err}
	}
	id, idErr := identity(path)
	if idErr == nil {
		if facts, ok := s.cached(path, id, probeQuestion, Python); ok {
			return facts, nil
		}
	}
	out, err := s.onHost(ctx, path, "-I", "-S", "-B", "-c", probeQuestion)
	if err != nil {
		return Interpreter{}, notRunning(path, err)
	}
	facts, err := parseProbe(out)
	if err != nil {
		return Interpreter{}, &Candidate{path, "does not run", err}
	}
	if idErr == nil && sameFile(facts.Path, path) {
		s.remember(path, id, probeQuestion, facts)
	}
	return facts, nil
}

func notRunning(path string, err error) *Candidate {
	var he *hostError
	if errors.As(err, &he) && strings.Contains(he.tail, "nknown option: -I") { // Python 2
		return &Candidate{path, fmt.Sprintf("too old: 3.%d is the oldest that can be used", pythonFloor), nil}
	}
	return &Candidate{path, "does not run", err}
}

func parseProbe(out []byte) (Interpreter, error) {
	at := bytes.LastIndex(out, []byte("\n"+probeMark))
	if at < 0 {
		return Interpreter{}, errors.New("it did not answer the probe")
	}
	var facts Interpreter
	if err := json.Unmarshal(out[at+1+len(probeMark):], &facts); err != nil {
		return Interpreter{}, fmt.Errorf("its answer to the probe: %w", err)
	}
	return facts, errors.Join(facts.check(Python)...)
}

func usable(path string, i Interpreter) *Candidate {
	switch {
	case !i.atLeast(3, pythonFloor):
		return &Candidate{path, fmt.Sprintf("too old: it is %s, 3.%d is the oldest that can be used", i.Version, pythonFloor), nil}
	case !i.HasVenv:
		return &Candidate{path, "it has no venv module", nil}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// minorName prefers …/python3.11 to …/python3 when they are one file: after an upgrade to 3.12 the environment then says that its interpreter is
// gone, where python3 would start and find none of its packages.
func minorName(path, version string) string {
	major, minor := versionOf(version)
	named := filepath.Join(filepath.Dir(path), fmt.Sprintf("python%d.%d%s", major, minor, filepath.Ext(exeOnly(path))))
	if sameFile(named, path) {
		return named
	}
	return path
}

// exeOnly keeps an extension only when it is one: "python3.11" has none.
func exeOnly(path string) string {
	if strings.EqualFold(filepath.Ext(path), ".exe") {
		return path
	}
	return ""
}
