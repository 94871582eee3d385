package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// manyLinks is when a chain of links is left to the system to follow, or to refuse.
const manyLinks = 8

// entry is what stands at a path, links followed.
func (l look) entry(path string) Entry { return l.at(l.place(path), 0) }

func (l look) at(place string, links int) Entry {
	if l.missing(place) {
		return Entry{Kind: EntryMissing, Resolved: place}
	}
	if l.folders[place] {
		return Entry{Kind: EntryFolder, Resolved: place}
	}
	info, err := os.Lstat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.gone[place] = true
		return Entry{Kind: EntryMissing, Resolved: place}
	case err != nil:
		return Entry{Kind: EntryMissing, Resolved: place, Fault: reason(err)}
	case info.Mode()&fs.ModeSymlink != 0:
		return l.through(place, links)
	case info.IsDir():
		l.real[place], l.folders[place] = place, true
	}
	return Entry{Kind: kindOf(info.Mode()), Resolved: place}
}

// missing reports what needs no question: the folder is not there, or was read to the end.
func (l look) missing(place string) bool {
	dir, name := filepath.Dir(place), filepath.Base(place)
	names, read := l.names[dir]
	return l.gone[place] || l.gone[dir] || read && dir != place && !names[name]
}

// through follows the link at a place, step by step, so that what was met on other ways helps. Links that lead nowhere, round in a circle, or up again from
// where they led are left to the system.
func (l look) through(place string, links int) Entry {
	text, err := os.Readlink(place)
	if err != nil || links >= manyLinks || strings.Contains(strings.TrimLeft(text, "./"), "..") {
		return l.asked(place)
	}
	e := l.at(l.place(joined(place, text)), links+1)
	if !e.exists() {
		return l.asked(place)
	}
	e.Link = text
	return e
}

// asked is the system's own answer.
func (l look) asked(place string) Entry {
	e := Entry{Kind: EntryMissing, Resolved: resolve(place)}
	e.Link, _ = os.Readlink(place)
	info, err := os.Stat(place)
	switch {
	case err == nil:
		e.Kind = kindOf(info.Mode())
	case !errors.Is(err, fs.ErrNotExist):
		e.Fault = reason(err)
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
	if r := l.resolve(parent); r != parent {
		return filepath.Join(r, filepath.Base(path))
	}
	return path
}

// resolve is the function of that name, with one question per folder.
func (l look) resolve(path string) string {
	path = filepath.Clean(path)
	if r, known := l.real[path]; known {
		return r
	}
	r := l.entry(path).Resolved
	l.real[path] = r
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
