package envs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// readers is how many files are read at once: more than four gained nothing on two cores.
const readers = 4

// readPath returns what can be imported by way of sites and the folders that their .pth files add, the first of a name wins.
func readPath(sites []folder, in Interpreter) ([]Package, []Hook, error) {
	w := newPathWalk()
	for _, site := range sites {
		l, fresh := w.take(site)
		if !fresh {
			continue
		}
		added, hooks := l.startup(in)
		w.hooks = append(w.hooks, hooks...)
		for _, f := range added {
			w.take(f)
		}
	}
	w.hooks = append(w.hooks, stdlibHooks(sites, in)...)
	all := readAll(w.found)
	found := make([]Package, 0, len(all))
	for _, i := range firstWins(len(all), func(i int) *Package { return &all[i] }) {
		found = append(found, all[i])
	}
	return found, w.hooks, errors.Join(w.errs...)
}

type pathWalk struct {
	seen  map[string]bool
	found []described
	hooks []Hook
	errs  []error
	names map[string][]fs.DirEntry // what stands in a path entry, by its path
}

func newPathWalk() pathWalk {
	return pathWalk{seen: map[string]bool{}, names: map[string][]fs.DirEntry{}}
}

// take lists a path entry the first time that it is met.
func (w *pathWalk) take(f folder) (l listing, fresh bool) {
	clean := filepath.Clean(f.path)
	if w.seen[clean] {
		return listing{}, false
	}
	w.seen[clean] = true
	l, err := list(f)
	if err != nil {
		w.errs = append(w.errs, err)
	}
	w.found = append(w.found, l.described...)
	w.names[f.path] = l.entries
	return l, true
}

// readAll reads the descriptions side by side and keeps their order.
func readAll(found []described) []Package {
	list := make([]Package, len(found))
	var wg sync.WaitGroup
	for w := range readers {
		wg.Go(func() {
			for i := w; i < len(found); i += readers {
				list[i] = found[i].read()
			}
		})
	}
	wg.Wait()
	return list
}

// firstWins returns the places of one package of each name, sorted by name: that of the first folder, and there the one that says most.
func firstWins(n int, of func(i int) *Package) []int {
	at := make(map[string]int, n)
	list := make([]int, 0, n)
	for i := range n {
		p := of(i)
		place, taken := at[p.Name]
		switch {
		case !taken:
			at[p.Name] = len(list)
			list = append(list, i)
		case of(list[place]).Folder == p.Folder:
			p.Ambiguous, of(list[place]).Ambiguous = true, true
			if better(p, of(list[place])) {
				list[place] = i
			}
		}
	}
	slices.SortFunc(list, func(a, b int) int { return strings.Compare(of(a).Name, of(b).Name) })
	return list
}

// better decides between two descriptions of one name in one folder. Python takes the one that the file system lists first; ours is at least the
// same each time.
func better(a, b *Package) bool {
	if (a.Broken == "") != (b.Broken == "") {
		return a.Broken == ""
	}
	if x, y := hasSuffixFold(a.Info, ".dist-info"), hasSuffixFold(b.Info, ".dist-info"); x != y {
		return x
	}
	return a.Info > b.Info
}
