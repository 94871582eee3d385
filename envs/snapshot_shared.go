package envs

import (
	"path/filepath"
	"slices"
	"strings"
)

// dropShared takes out of the distributions' own files those that several have with the same content: the __init__.py of an old-fashioned namespace,
// say. Each has it, none has it alone, and nobody's copy differs from another's.
func dropShared(facts []distFacts) {
	type place struct{ folder, top string } // the first part of a module's name
	first := make(map[place]int, len(facts))
	users := map[place][]int{}
	for i := range facts {
		f := &facts[i]
		if f.Owner != OwnerEnv {
			continue
		}
		for j, m := range f.modules {
			at := place{f.Folder, firstPart(m)}
			if j > 0 && at.top == firstPart(f.modules[j-1]) {
				continue
			}
			if other, taken := first[at]; !taken {
				first[at] = i
			} else if users[at] = append(users[at], i); len(users[at]) == 1 {
				users[at] = []int{other, i}
			}
		}
	}
	for at, list := range users {
		dropSharedOf(facts, list, at.top)
	}
}

func firstPart(module string) string {
	first, _, _ := strings.Cut(module, "/")
	return first
}

func dropSharedOf(facts []distFacts, list []int, top string) {
	type entry struct {
		hash string
		last int // who named it: a RECORD may do so twice
		n    int
		same bool
	}
	seen := map[string]entry{}
	for _, i := range list {
		for _, l := range readRecord(filepath.Join(facts[i].Info, "RECORD")) {
			if firstPart(l.path) == top || strings.HasPrefix(l.path, top+".") {
				e := seen[l.path]
				n := e.n
				if n == 0 || e.last != i {
					n++
				}
				seen[l.path] = entry{l.sum(), i, n, l.sum() != "" && (e.n == 0 || e.same && e.hash == l.sum())}
			}
		}
	}
	for _, i := range list {
		facts[i].files = slices.DeleteFunc(facts[i].files, func(f string) bool { return seen[f].n > 1 && seen[f].same })
	}
}
