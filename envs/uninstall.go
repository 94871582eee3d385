package envs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// leaving finds what of the tree goes with the named distributions: the files that their RECORDs name and no other RECORD does, the bytecode of these,
// and their descriptions. Names are normalised. A distribution without RECORD cannot go: what is its own is not known.
func (e *Environment) leaving(names []string) (drop map[string]bool, err error) {
	drop = map[string]bool{}
	keep, seen := map[string]bool{}, map[string]bool{}
	var faults []error
	for _, site := range e.Interpreter.envSites(e.Tree()) {
		l, err := list(folder{site, OwnerEnv})
		if err != nil {
			return nil, err
		}
		for _, d := range l.described {
			name := d.read().Name
			if !slices.Contains(names, name) {
				e.namedBy(d, keep)
				continue
			}
			seen[name] = true
			if reason := e.goesWith(d, drop); reason != "" {
				faults = append(faults, &MergeError{relTo(e, d.path()), reason})
			}
		}
	}
	for _, name := range names {
		if !seen[name] {
			faults = append(faults, &MergeError{name, "the environment does not have it, so it cannot be removed"})
		}
	}
	for rel := range keep {
		delete(drop, rel)
	}
	e.addBytecode(drop)
	return drop, joinFaults(faults)
}

// namedBy adds the files that a RECORD names and that lie in the tree. It is false without a RECORD.
func (e *Environment) namedBy(d described, set map[string]bool) bool {
	lines := readRecord(filepath.Join(d.path(), "RECORD"))
	for _, l := range lines {
		at := filepath.Join(d.folder.path, filepath.FromSlash(l.path))
		if rel, ok := strings.CutPrefix(at, e.Tree()+string(filepath.Separator)); ok && filepath.IsLocal(rel) {
			set[withoutLib64(e, rel)] = true
		}
	}
	return lines != nil
}

func (e *Environment) goesWith(d described, drop map[string]bool) (reason string) {
	own := map[string]bool{}
	if !d.isDistInfo() || !e.namedBy(d, own) {
		return "it has no RECORD, so it cannot be removed"
	}
	for rel := range own {
		if isFrame(rel) {
			return fmt.Sprintf("its RECORD names %s, a part of the environment itself", rel)
		}
		drop[rel] = true
	}
	drop[relTo(e, d.path())] = true // the folder as a whole: installers put files there that RECORD does not have
	return ""
}

// isFrame says whether a path of a tree is a part of the environment itself.
func isFrame(rel string) bool {
	if rel == "pyvenv.cfg" || rel == "lib64" {
		return true
	}
	return filepath.Dir(rel) == scripts() && skeleton.MatchString(filepath.Base(rel))
}

// addBytecode adds what Python, of any version, made of the sources that go.
func (e *Environment) addBytecode(drop map[string]bool) {
	stems := map[string]map[string]bool{} // by __pycache__ folder
	for rel := range drop {
		if stem, ok := strings.CutSuffix(filepath.Base(rel), ".py"); ok {
			dir := filepath.Join(filepath.Dir(rel), "__pycache__")
			if stems[dir] == nil {
				stems[dir] = map[string]bool{}
			}
			stems[dir][stem] = true
		}
	}
	for dir, ofDir := range stems {
		entries, err := os.ReadDir(filepath.Join(e.Tree(), dir))
		if err != nil {
			continue // it has none
		}
		for _, entry := range entries {
			stem, _, _ := strings.Cut(entry.Name(), ".")
			if ofDir[stem] && isBytecode(entry.Name()) {
				drop[filepath.Join(dir, entry.Name())] = true
			}
		}
	}
}
