package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
)

// lintEntries bounds the walk of Lint: a tree of 231,000 files took 5 s.
const lintEntries = 100_000

// lintRoot is a folder that a plan shows at the operator's wish.
type lintRoot struct {
	use, path string
	write     bool
	skip      []string // folders in it that are judged for themselves
}

func (c *linux) lintRoots() []lintRoot {
	var out []lintRoot
	for _, g := range c.grants {
		if g.redundant || c.entry(g.path).Kind != EntryFolder {
			continue
		}
		r := lintRoot{use: g.use, path: g.target, write: g.write}
		for _, i := range c.islands {
			if i.grant == g.target {
				r.skip = append(r.skip, i.path)
			}
		}
		for _, other := range c.grants {
			if !other.redundant && below(other.target, g.target) {
				r.skip = append(r.skip, other.target)
			}
		}
		out = append(out, r)
	}
	return out
}

// Lint walks the folders that the plan shows and warns of what lies below their top level, which Observe has seen: sockets, whose listeners could be
// commanded from inside, and files in writable folders that have another name elsewhere, which a write inside changes as well. It takes seconds on a large
// tree, so it is for the time after the start. It reads names and kinds, never a file's content; it follows no link, does not leave a folder's file system,
// leaves network file systems alone, gives up after 100,000 names, and returns when ctx ends. warn gets at most two sentences a folder, from this
// goroutine.
func Lint(ctx context.Context, p *Plan, warn func(string)) {
	left := lintEntries
	for _, root := range p.lint {
		w := &lintWalk{root: root, left: &left, names: map[inode]int{}, linked: map[inode]string{}}
		if !w.begin() {
			continue
		}
		err := filepath.WalkDir(root.path, func(path string, d fs.DirEntry, err error) error { return w.visit(ctx, path, d, err) })
		if err != nil {
			return // ctx has ended: nothing else stops a walk
		}
		w.tell(warn)
	}
}

// lintWalk is the walk of one folder. A file is linked elsewhere when not all of its names were met.
type lintWalk struct {
	root    lintRoot
	device  uint64
	left    *int
	sockets []string
	names   map[inode]int    // names of a file that are still to be met
	linked  map[inode]string // one of them
}

// inode is what two names of one file share.
type inode struct{ dev, ino uint64 }

func (w *lintWalk) begin() bool {
	id, _, ok := identity(w.root.path)
	w.device = id.dev
	return ok && !remote(w.root.path)
}

func (w *lintWalk) visit(ctx context.Context, path string, d fs.DirEntry, err error) error {
	if *w.left--; *w.left < 0 {
		return fs.SkipAll
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return passOver(d)
	case d.IsDir():
		if id, _, ok := identity(path); !ok || id.dev != w.device || inList(path, w.root.skip) {
			return fs.SkipDir
		}
	case d.Type()&fs.ModeSocket != 0:
		w.sockets = append(w.sockets, path)
	case w.root.write && d.Type().IsRegular():
		w.count(path)
	}
	return nil
}

// passOver leaves out a folder that cannot be read.
func passOver(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (w *lintWalk) count(path string) {
	id, links, ok := identity(path)
	if !ok || links < 2 {
		return
	}
	if _, met := w.names[id]; !met {
		w.names[id], w.linked[id] = links, path
	}
	if w.names[id]--; w.names[id] == 0 {
		delete(w.linked, id)
	}
}

// tell says what was found below the top level. Of a walk that gave up, a file's other names may be in the rest.
func (w *lintWalk) tell(warn func(string)) {
	if w.root.use != "folder" && len(w.sockets) > 0 {
		warn(fmt.Sprintf("%s %s holds sockets, whose listeners can be commanded from inside: %s", w.root.use, quoted(w.root.path), w.some(w.sockets)))
	}
	if *w.left < 0 {
		warn(fmt.Sprintf("%s %s holds more than was looked at for sockets and files with other names", w.root.use, quoted(w.root.path)))
		return
	}
	var linked []string
	for _, path := range w.linked {
		if filepath.Dir(path) != w.root.path {
			linked = append(linked, path)
		}
	}
	if sort.Strings(linked); len(linked) > 0 {
		warn(fmt.Sprintf("%s %s holds files that have another name elsewhere, which a write inside changes as well: %s", w.root.use, quoted(w.root.path), w.some(linked)))
	}
}

func (w *lintWalk) some(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = strings.TrimPrefix(p, w.root.path+"/")
	}
	return some(names)
}
