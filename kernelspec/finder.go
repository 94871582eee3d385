package kernelspec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// Finder looks where Jupyter looks. The zero value is for the present process; set the fields before the first use. The python3 kernel that a Jupyter server adds by itself when none is
// installed lies inside its ipykernel package and is not found.
type Finder struct {
	Goos   string              // empty: runtime.GOOS
	Getenv func(string) string // nil: os.Getenv
	Prefix string              // sys.prefix of the Jupyter that is meant; empty takes VIRTUAL_ENV or CONDA_PREFIX, if set
}

// NotFoundError is returned for a name that no folder has.
type NotFoundError struct {
	Name     string
	Searched []string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no kernelspec %q in %s", plain.Line(e.Name, 80), strings.Join(e.Searched, ", "))
}

// NameError is returned for a name that a kernelspec cannot have.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("kernelspec name %q: only ASCII letters, digits and . _ - are allowed, and not dots alone", plain.Line(e.Name, 80))
}

// validName is for the name before it is folded: the Kelvin sign folds to k.
func validName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

// CheckName returns the name in lower case, or a *NameError.
func CheckName(name string) (string, error) {
	if !validName(name) || strings.Trim(name, ".") == "" || len(name) > 200 {
		return "", &NameError{name}
	}
	return strings.ToLower(name), nil
}

// Find returns the spec of that name that Jupyter would take: the first one, even when it is faulty. Its faults come all at once.
func (f Finder) Find(name string) (*Spec, error) {
	low, err := CheckName(name)
	if err != nil {
		return nil, err
	}
	dirs := f.Dirs()
	for _, dir := range dirs {
		found, _ := specsIn(dir)
		if path, ok := found[low]; ok {
			return Read(path)
		}
	}
	return nil, &NotFoundError{Name: low, Searched: dirs}
}

// List returns the specs by name, and what is wrong: with those that are missing from the list, and warnings about those that are in it.
func (f Finder) List() ([]*Spec, []Problem) {
	var problems []Problem
	paths := map[string]string{}
	for _, dir := range f.Dirs() {
		found, wrong := specsIn(dir)
		problems = append(problems, wrong...)
		for name, path := range found {
			if _, hidden := paths[name]; !hidden {
				paths[name] = path
			}
		}
	}
	var specs []*Spec
	for _, name := range sortedKeys(paths) {
		spec, wrong := load(paths[name])
		problems = append(problems, wrong...)
		if spec != nil {
			specs = append(specs, spec)
		}
	}
	return specs, problems
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func load(dir string) (*Spec, []Problem) {
	data, err := readFile(filepath.Join(dir, fileName))
	if err != nil {
		var p Problem
		if !errors.As(err, &p) {
			p = Problem{File: filepath.Join(dir, fileName), What: err.Error()}
		}
		return nil, []Problem{p}
	}
	return parse(strings.ToLower(filepath.Base(dir)), dir, data)
}

// specsIn returns the folders in dir that hold a kernel.json, by lower-case name. A dir that does not exist holds none.
func specsIn(dir string) (map[string]string, []Problem) {
	entries, err := os.ReadDir(dir) // sorted by name: upper case comes first, and the exact name last
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder) {
			return nil, nil
		}
		return nil, []Problem{{File: dir, What: openFault(err)}}
	}
	found := map[string]string{}
	var problems []Problem
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(path, fileName)); err != nil && !errors.Is(err, fs.ErrPermission) {
			continue
		}
		name, err := CheckName(e.Name())
		if err != nil {
			problems = append(problems, Problem{File: path, What: err.Error()})
			continue
		}
		if other, ok := found[name]; ok {
			problems = append(problems, Problem{File: path, What: "has the same name as " + other + " without case", Warning: true})
		}
		found[name] = path
	}
	return found, problems
}
