package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// look is one look at the machine. It remembers where folders really are and what was not there, since the many paths of a policy lie in few folders and
// most of the system's list is missing everywhere; it is made anew for each, so nothing old is believed.
type look struct {
	real    map[string]string          // a folder's path without links
	folders map[string]bool            // paths without links that are folders
	gone    map[string]bool            // paths that do not exist
	names   map[string]map[string]bool // the names in folders that were read to the end
	lists   map[string][]fs.DirEntry   // what folders begin with
}

func newLook() look {
	const many = 64 // of most there are that many in an ordinary look
	return look{
		real: make(map[string]string, many), folders: make(map[string]bool, many), gone: make(map[string]bool, many),
		names: map[string]map[string]bool{}, lists: map[string][]fs.DirEntry{},
	}
}

func (l look) system(f *Facts) {
	for _, path := range l.expand(systemPatterns(f.UID == 0)) {
		f.Paths[path] = l.entry(path)
	}
}

func (l look) paths(p Policy, f *Facts) {
	into := f.Paths
	for _, path := range policyPaths(p) {
		if filepath.IsAbs(path) {
			into[path] = l.entry(path)
		}
	}
	for _, path := range append(append([]string{p.Folder}, p.Read...), p.Write...) {
		if e := into[path]; e.Kind == EntryFolder && e.Sockets == nil && e.Linked == nil {
			into[path] = l.lint(path, e)
		}
	}
}

// more is what depends on where the policy's paths really are.
func (l look) more(p Policy, f *Facts) {
	add := func(paths ...string) {
		for _, path := range paths {
			if _, known := f.Paths[path]; !known {
				f.Paths[path] = l.entry(path)
			}
		}
	}
	for _, path := range p.writable() {
		if e := f.Paths[path]; e.Kind == EntryFolder {
			add(islandsBelow(e.Resolved)...)
		}
	}
	l.observeProject(p, f)
	add(sensitiveIn(f.Homes, shownRoots(p, *f))...)
	add(sensitiveOf(p.Prefixes)...)
	if parts, asked := gpus[p.GPU]; asked {
		add(l.expand(parts.patterns())...)
	}
}

// expand replaces a pattern by the names that it fits in its folder, which is read once for all patterns.
func (l look) expand(patterns []string) []string {
	var out []string
	for _, pattern := range patterns {
		dir, form := filepath.Split(pattern)
		if !strings.Contains(form, "*") {
			out = append(out, pattern)
			continue
		}
		dir = filepath.Clean(dir)
		for name := range l.namesOf(dir) {
			if fits, err := filepath.Match(form, name); err == nil && fits {
				out = append(out, filepath.Join(dir, name))
			}
		}
	}
	return out
}

// namesOf are the names in a folder; it is remembered what is not there, when all could be read.
func (l look) namesOf(dir string) map[string]bool {
	if known, ok := l.names[dir]; ok {
		return known
	}
	names, whole := namesIn(dir)
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	if whole {
		l.names[dir] = set
	}
	return set
}

func namesIn(dir string) (names []string, whole bool) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	defer d.Close()
	names, err = d.Readdirnames(-1)
	return names, err == nil
}
