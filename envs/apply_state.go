package envs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/restart"
)

// changed is e with the plan done: what was asked for and what it owns.
func (a *application) changed(e *Environment) *Environment {
	now := *e
	now.Owned = a.ownedAfter()
	now.Requested = a.requestedAfter()
	return &now
}

func (a *application) ownedAfter() []Owned {
	comes := map[string]bool{}
	list := []Owned{}
	for _, f := range a.plan.Files {
		comes[normalName(f.Name)] = true
		list = append(list, Owned{Name: normalName(f.Name), Version: f.Version, SHA256: f.SHA256})
	}
	for _, o := range a.e.Owned {
		if !comes[o.Name] && !slices.ContainsFunc(a.plan.Remove, func(n string) bool { return normalName(n) == o.Name }) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b Owned) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// requestedAfter keeps the names: versions are the plan's, and stand in Owned.
func (a *application) requestedAfter() []string {
	list := slices.Clone(a.e.Requested)
	for _, text := range a.plan.Request.Add {
		if r, err := parseAsked(text); err == nil && !slices.Contains(list, r.name) {
			list = append(list, r.name)
		}
	}
	return slices.DeleteFunc(list, func(name string) bool {
		return slices.ContainsFunc(a.plan.Request.Remove, func(n string) bool { return normalName(n) == name })
	})
}

// preview is the view that a kernel would have if the goods were merged now.
func (a *application) preview() restart.Snapshot {
	s := a.before
	s.Packages, s.Hooks = slices.Clone(s.Packages), slices.Clone(s.Hooks)
	v := view{e: a.e, tree: a.goods.out, suffixes: moduleSuffixes(a.e.Interpreter.ExtensionSuffixes)}
	var found []described
	for _, dist := range a.goods.dists {
		site := folder{filepath.Join(a.goods.out, filepath.Dir(a.goods.at[dist.info])), OwnerEnv}
		found = append(found, described{site, filepath.Base(dist.info), true})
	}
	facts := v.readFacts(found)
	dropShared(facts)
	var comes []restart.Package
	for _, f := range facts {
		comes = append(comes, f.seen(v.shown(f.Folder)))
	}
	var hooks []Hook
	for _, site := range v.sites() {
		if site.owner == OwnerEnv {
			if l, err := list(site); err == nil {
				added, brought := l.startup(a.e.Interpreter)
				hooks = append(hooks, brought...)
				s.Path = v.pathWith(s.Path, site.path, added)
			}
		}
	}
	s.Hooks = append(v.hooks(hooks, facts), s.Hooks...)
	for _, p := range comes {
		s.Packages = slices.DeleteFunc(s.Packages, func(old restart.Package) bool { return old.Name == p.Name })
	}
	s.Packages = append(s.Packages, comes...)
	slices.SortFunc(s.Packages, func(a, b restart.Package) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// pathWith puts the folders that .pth files add where Python does: after their own.
func (v view) pathWith(path []string, site string, added []folder) []string {
	path = slices.Clone(path)
	at := slices.Index(path, v.shown(site)) + 1
	for _, f := range added {
		p := v.shown(f.path)
		if _, err := os.Stat(f.path); err == nil && !slices.Contains(path, p) {
			path = slices.Insert(path, at, p)
			at++
		}
	}
	return path
}

// without takes files of the tree out of the packages' own: those that another package has with the same content.
func without(s restart.Snapshot, e *Environment, shared map[string]bool) restart.Snapshot {
	if len(shared) == 0 {
		return s
	}
	s.Packages = slices.Clone(s.Packages)
	for i, p := range s.Packages {
		inside, ok := strings.CutPrefix(p.Folder, e.Current()+string(filepath.Separator))
		if !ok {
			continue
		}
		s.Packages[i].Files = slices.DeleteFunc(slices.Clone(p.Files), func(f string) bool { return shared[filepath.Join(inside, filepath.FromSlash(f))] })
	}
	return s
}

func breaking(changes restart.Changes) (list restart.Changes) {
	for _, c := range changes {
		if !c.Class.Additive() {
			list = append(list, c)
		}
	}
	return list
}

// ownerOf finds the package that has a file of the tree.
func ownerOf(s restart.Snapshot, e *Environment) func(rel string) string {
	return func(rel string) string {
		at := filepath.Join(e.Current(), rel)
		for _, p := range s.Packages {
			inside, ok := strings.CutPrefix(at, p.Folder+string(filepath.Separator))
			if ok && slices.Contains(p.Files, filepath.ToSlash(inside)) {
				return p.Name + " " + p.Version
			}
		}
		return ""
	}
}
