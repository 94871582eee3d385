package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// look is one look at the machine. It remembers where folders really are, since the many paths of a policy lie in few of
// them; it is made anew for each, so nothing old is believed.
type look map[string]string

func (l look) paths(p Policy, into map[string]Entry) {
	for _, path := range expand(systemPatterns()) {
		into[path] = l.entry(path)
	}
	for _, path := range policyPaths(p) {
		if filepath.IsAbs(path) {
			into[path] = l.entry(path)
		}
	}
	for _, path := range append(append([]string{p.Folder}, p.Read...), p.Write...) {
		if e := into[path]; e.Kind == EntryFolder && e.Sockets == nil && e.Linked == nil {
			into[path] = lint(path, e)
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
	if parts, asked := gpus[p.GPU]; asked {
		add(expand(parts.patterns())...)
	}
}

// expand replaces a pattern by the names that it fits in its folder, which is read once for all patterns.
func expand(patterns []string) []string {
	names := map[string][]string{}
	var out []string
	for _, pattern := range patterns {
		dir, form := filepath.Split(pattern)
		if !strings.Contains(form, "*") {
			out = append(out, pattern)
			continue
		}
		if _, known := names[dir]; !known {
			names[dir] = namesIn(dir)
		}
		for _, name := range names[dir] {
			if fits, err := filepath.Match(form, name); err == nil && fits {
				out = append(out, dir+name)
			}
		}
	}
	return out
}

func namesIn(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1) // as many as could be read
	return names
}

func (l look) entry(path string) Entry {
	place := l.place(path)
	e := Entry{Kind: EntryMissing, Resolved: place}
	info, err := os.Lstat(place)
	link := err == nil && info.Mode()&fs.ModeSymlink != 0
	if link {
		e.Resolved = resolve(place)
		info, err = os.Stat(place)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			e.Fault = reason(err)
		}
		return e
	}
	e.Kind = kindOf(info.Mode())
	if link {
		e.Link, _ = os.Readlink(place)
	} else {
		l[place] = place
	}
	return e
}

// place is path in its real folder, whatever it is there itself.
func (l look) place(path string) string {
	path = filepath.Clean(path)
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(l.resolve(parent), filepath.Base(path))
}

// resolve is the function of that name, with one question per folder.
func (l look) resolve(path string) string {
	path = filepath.Clean(path)
	if r, known := l[path]; known {
		return r
	}
	r := l.place(path)
	if info, err := os.Lstat(r); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		r = resolve(r)
	}
	l[path] = r
	return r
}

func (l look) resolveAll(paths []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			continue
		}
		if r := l.resolve(p); !seen[r] {
			seen[r] = true
			out = append(out, r)
		}
	}
	return out
}
