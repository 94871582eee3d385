package envs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kernel-launch/kernel-launch/restart"
)

// Snapshot is everything that a kernel of the current generation could import, by reading alone. Paths are those that the kernel sees: two
// generations with the same content are equal. As in Packages, the error names folders that cannot be read, and the rest is returned beside it.
func (e *Environment) Snapshot() (restart.Snapshot, error) { return e.SnapshotOf(e.Tree()) }

// SnapshotOf is Snapshot for a kernel that has the given tree of this environment at its path.
func (e *Environment) SnapshotOf(tree string) (restart.Snapshot, error) {
	if e.Language == R {
		return e.snapshotR(tree)
	}
	v := view{e: e, tree: tree, suffixes: moduleSuffixes(e.Interpreter.ExtensionSuffixes)}
	return v.snapshot()
}

func (e *Environment) emptySnapshot() restart.Snapshot {
	i := e.Interpreter
	return restart.Snapshot{
		Language: e.Language, Interpreter: strings.TrimSpace(i.Implementation + " " + i.Version + " " + i.Path),
		Path: []string{}, Hooks: []restart.Hook{}, Packages: []restart.Package{}, Orphans: []string{},
	}
}

// view reads one tree as its kernels see it.
type view struct {
	e        *Environment
	tree     string
	suffixes []string
}

// shown maps a path of the tree to the one that kernels see.
func (v view) shown(p string) string {
	if rest, ok := strings.CutPrefix(p, v.tree); ok && (rest == "" || rest[0] == filepath.Separator) {
		return v.e.Current() + rest
	}
	return p
}

func (v view) sites() []folder {
	at := *v.e
	var list []folder
	for _, f := range at.sites() {
		if rest, ok := strings.CutPrefix(f.path, v.e.Tree()); ok && f.owner == OwnerEnv {
			f.path = v.tree + rest
		}
		list = append(list, f)
	}
	return list
}

func (v view) snapshot() (restart.Snapshot, error) {
	s := v.e.emptySnapshot()
	sites := v.sites()
	w, path := walkPath(sites, v.e.Interpreter)
	for _, p := range path {
		s.Path = append(s.Path, v.shown(p))
	}
	facts := v.readFacts(w.found)
	dropShared(facts)
	s.Packages = v.packages(facts)
	s.Hooks = v.hooks(append(w.hooks, stdlibHooks(sites, v.e.Interpreter)...), facts)
	s.Orphans = v.orphans(sites, facts, w.names)
	return s, errors.Join(w.errs...)
}

// walkPath lists the path entries in the order in which Python searches them: each site folder is followed by what its .pth files add.
func walkPath(sites []folder, in Interpreter) (w pathWalk, path []string) {
	w = newPathWalk()
	take := func(f folder) (listing, bool) {
		l, fresh := w.take(f)
		if _, err := os.Stat(f.path); fresh && err == nil { // Python leaves out what is not there at its start
			path = append(path, filepath.Clean(f.path))
		}
		return l, fresh
	}
	for _, site := range sites {
		l, fresh := take(site)
		if !fresh {
			continue
		}
		added, hooks := l.startup(in)
		w.hooks = append(w.hooks, hooks...)
		for _, f := range added {
			take(f)
		}
	}
	return w, path
}

// readFacts reads the descriptions side by side and keeps their order.
func (v view) readFacts(found []described) []distFacts {
	facts := make([]distFacts, len(found))
	var wg sync.WaitGroup
	var next atomic.Int64
	for range readers {
		wg.Go(func() {
			r := factReader{view: v}
			defer r.leave()
			for i := int(next.Add(1)) - 1; i < len(found); i = int(next.Add(1)) - 1 {
				facts[i] = r.read(found[i])
			}
		})
	}
	wg.Wait()
	return facts
}

// packages are those that are found under their names.
func (v view) packages(facts []distFacts) []restart.Package {
	list := make([]restart.Package, 0, len(facts))
	shown := map[string]string{} // of the few folders
	for _, i := range firstWins(len(facts), func(i int) *Package { return &facts[i].Package }) {
		f := &facts[i]
		at, known := shown[f.Folder]
		if !known {
			at = v.shown(f.Folder)
			shown[f.Folder] = at
		}
		list = append(list, f.seen(at))
	}
	return list
}

// seen is the package as kernels see it, in the folder that they know.
func (f *distFacts) seen(folder string) restart.Package {
	p := restart.Package{
		Name: f.Name, Version: f.Version, Folder: folder, Owner: f.Owner, Fingerprint: f.fingerprint,
		Modules: f.modules, Namespaces: f.namespaces, Requires: f.requires, Hooks: f.starts,
	}
	if f.Owner == OwnerEnv {
		p.Files = f.files
	}
	return p
}

// hooks names the package that brought each hook.
func (v view) hooks(found []Hook, facts []distFacts) []restart.Hook {
	brought := map[string]string{}
	for _, f := range facts {
		for _, file := range f.startup {
			brought[filepath.Join(f.Folder, file)] = f.Name
		}
	}
	list := make([]restart.Hook, 0, len(found))
	for _, h := range found {
		list = append(list, restart.Hook{Name: h.Name, Path: v.shown(h.Path), SHA256: h.SHA256, Owner: brought[h.Path]})
	}
	return list
}
