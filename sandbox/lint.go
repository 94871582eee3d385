package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
)

// How many names of a folder are looked at, and how many files are asked for their other names, which a network file
// system may answer one by one: the look-up must stay cheaper than the start.
const (
	lintNames = 2000
	lintFiles = 200
)

// lint notes sockets, files with several names and links that lead out, in the folder's top level.
func (l look) lint(path string, e Entry) Entry {
	asked := 0
	for _, n := range l.list(path) {
		if n.Type()&fs.ModeSocket != 0 {
			e.Sockets = append(e.Sockets, n.Name())
		}
		if asked++; asked > lintFiles {
			continue
		}
		if n.Type().IsRegular() && hasOtherNames(n) {
			e.Linked = append(e.Linked, n.Name())
		}
		if n.Type()&fs.ModeSymlink != 0 && outward(path, n.Name()) {
			e.Outward = append(e.Outward, n.Name())
		}
	}
	sort.Strings(e.Sockets)
	sort.Strings(e.Linked)
	sort.Strings(e.Outward)
	return e
}

// list is the beginning of a folder, read once.
func (l look) list(path string) []fs.DirEntry {
	if known, ok := l.lists[path]; ok {
		return known
	}
	d, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer d.Close()
	entries, err := d.ReadDir(lintNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	l.lists[path] = entries
	return entries
}

// allNames are the names in a folder, however many.
func (l look) allNames(path string) []string {
	entries := l.list(path)
	if len(entries) >= lintNames {
		names, _ := namesIn(path)
		return names
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// outward reports whether a link's text leads out of its folder, whatever stands there.
func outward(folder, name string) bool {
	text, err := os.Readlink(filepath.Join(folder, name))
	return err == nil && !within(joined(filepath.Join(folder, name), text), folder)
}
