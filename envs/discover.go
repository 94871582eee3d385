package envs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
)

var (
	versionForm = newForm(`\A\d+(\.\d+){0,2}\z`)
	minorForm   = newForm(`\Apython3\.(\d+)(\.exe)?\z`)
)

// FindPython returns the base interpreter that wanted names: a version ("3.11"), a path or a command; empty is the first usable one on PATH.
// VIRTUAL_ENV and .venv have no say, and the interpreter of a virtual environment stands for the one that it was made from.
func (s *Store) FindPython(ctx context.Context, wanted string) (Interpreter, error) {
	paths, err := s.pythonPaths(wanted)
	if err != nil {
		return Interpreter{}, err
	}
	failed := &InterpreterError{Language: Python, Wanted: wanted}
	var tried []os.FileInfo
	for _, p := range paths {
		if fi, err := os.Stat(p); err == nil {
			if contains(tried, fi) {
				continue
			}
			tried = append(tried, fi)
		}
		facts, c := s.probeVersion(ctx, p, wanted)
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

// probeVersion refuses another version than the one that was asked for by number.
func (s *Store) probeVersion(ctx context.Context, path, wanted string) (Interpreter, *Candidate) {
	facts, c := s.probePython(ctx, path)
	if c == nil && versionForm.MatchString(wanted) && !matches(facts.Version, wanted) {
		c = &Candidate{path, fmt.Sprintf("it is %s, not %s", facts.Version, wanted), nil}
	}
	return facts, c
}

func contains(seen []os.FileInfo, fi os.FileInfo) bool {
	for _, s := range seen {
		if os.SameFile(s, fi) {
			return true
		}
	}
	return false
}

// matches: "3.11" means 3.11.2 but not 3.110.
func matches(version, wanted string) bool {
	return version == wanted || strings.HasPrefix(version, wanted+".")
}

func (s *Store) pythonPaths(wanted string) ([]string, error) {
	if filepath.IsAbs(wanted) {
		return []string{wanted}, nil
	}
	if strings.ContainsAny(wanted, `/\`) {
		abs, err := filepath.Abs(wanted)
		return []string{abs}, err
	}
	return pythonCandidates(runtime.GOOS, wanted, filepath.SplitList(s.getenv("PATH")), fileNames), nil
}

func fileNames(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// pythonCandidates orders the programs of PATH that could be meant. A relative entry is left out: it names a folder that a kernel may write to.
func pythonCandidates(goos, wanted string, path []string, names func(dir string) []string) []string {
	var list []string
	for _, pass := range candidatePasses(goos, wanted) {
		for _, dir := range path {
			if dir == "" || !filepath.IsAbs(dir) {
				continue
			}
			for _, n := range pass(names(dir)) {
				list = append(list, filepath.Join(dir, n))
			}
		}
	}
	return list
}

type namePick func(names []string) []string

// candidatePasses: a version that is in the name is tried on the whole PATH before programs that may be of any version are started.
func candidatePasses(goos, wanted string) []namePick {
	exe := ""
	if goos == "windows" {
		exe = ".exe"
	}
	exact := func(want ...string) namePick {
		return func(names []string) []string { return pick(names, want) }
	}
	anyOf := func(names []string) []string { return append(pick(names, plainNames(goos)), minors(names)...) }
	switch {
	case wanted == "":
		return []namePick{anyOf}
	case versionForm.MatchString(wanted):
		parts := strings.SplitN(wanted, ".", 3)
		named := exact("python" + strings.Join(parts[:min(2, len(parts))], ".") + exe)
		if len(parts) == 1 {
			return []namePick{named, anyOf}
		}
		return []namePick{named, exact(plainNames(goos)...)}
	}
	return []namePick{exact(wanted, wanted+exe)}
}

// plainNames: Windows has no python3 but the store's alias.
func plainNames(goos string) []string {
	if goos == "windows" {
		return []string{"python.exe", "python3.exe"}
	}
	return []string{"python3"}
}

func pick(names, want []string) (list []string) {
	for _, w := range want {
		for _, n := range names {
			if n == w && !has(list, n) {
				list = append(list, n)
			}
		}
	}
	return list
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// minors are python3.N, the newest first.
func minors(names []string) (list []string) {
	for _, n := range names {
		if minorForm.MatchString(n) {
			list = append(list, n)
		}
	}
	number := func(n string) int {
		v, _ := strconv.Atoi(minorForm.FindStringSubmatch(n)[1])
		return v
	}
	sort.Slice(list, func(i, j int) bool { return number(list[i]) > number(list[j]) })
	return list
}
