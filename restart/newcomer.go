package restart

import (
	"slices"
	"strings"
)

// An arrival is a new package beside what its modules meet.
type arrival struct {
	*comparison
	name    string
	p       *Package
	clobber []string // whose files it has as well
	shadow  []string // what it takes over from whom
	hidden  []string // which of its modules cannot be seen, and behind what
	fixed   []string // which package's folder is fixed once that is imported
	hints   []string
	touches []Module
}

func (c *comparison) newcomer(name string, p *Package) Change {
	a := &arrival{comparison: c, name: name, p: p, touches: []Module{}}
	for _, module := range p.Modules {
		a.meet(module)
	}
	for _, rival := range c.rivals(p) {
		a.clobber = append(a.clobber, title(rival))
	}
	return Change{Name: name, To: p.Version, ToOwner: p.Owner, Class: a.class(), Detail: a.detail(), Touches: a.touches}
}

func (a *arrival) meet(module string) {
	top := topOf(module)
	if a.before.orphans[top] {
		a.meetOrphan(module, top)
	}
	for _, other := range a.before.modules.related(module) {
		if other.name == a.name {
			continue
		}
		switch relate(a.p, module, other.p, other.module) {
		case contested:
			a.contest(module, other)
		case within:
			a.enter(module, other)
		case apart:
		}
	}
	if strings.Contains(module, "/") || isNamespace(a.p, module) {
		a.share(top)
	}
}

func (a *arrival) meetOrphan(module, top string) {
	if a.p.Owner != OwnerEnv && a.after.orphans[top] {
		a.hidden = append(a.hidden, dotted(module)+" stays hidden behind a module that belongs to no package")
		return
	}
	a.shadow = append(a.shadow, dotted(top)+" from a module that belonged to no package")
	a.touches = append(a.touches, Module{Name: top})
}

// contest is about a module that was there before and may come from other files now.
func (a *arrival) contest(module string, other provider) {
	switch same := other.p.Folder == a.p.Folder; {
	case same && !overlap(a.p, other.p):
		return // files beside files: what was imported is still what is found
	case same:
		a.clobber = append(a.clobber, title(other.p))
	case a.stays(other) && a.after.behind(a.p.Folder, other.p.Folder):
		a.hidden = append(a.hidden, dotted(module)+" stays hidden behind "+title(other.p))
		return
	default:
		a.shadow = append(a.shadow, dotted(module)+" from "+title(other.p))
	}
	if module == other.module {
		a.touches = append(a.touches, place(other.p, module))
	} else {
		a.touches = append(a.touches, Module{Name: dotted(module)}) // a package over a namespace: all that the namespace holds
	}
}

func (a *arrival) stays(other provider) bool {
	now := a.after.byName[other.name]
	return now != nil && now.Folder == other.p.Folder
}

// enter is about a part of another package that has an __init__: found in the same folder at once, in another only when that package is imported
// anew.
func (a *arrival) enter(module string, other provider) {
	switch {
	case other.p.Folder != a.p.Folder:
		a.fixed = append(a.fixed, dotted(module)+" is looked for where "+dotted(other.module)+" of "+title(other.p)+" was found at its import")
	case common(a.p.Files, other.p.Files):
		a.clobber = append(a.clobber, title(other.p))
		a.touches = append(a.touches, place(other.p, other.module))
	}
}

// share is about the first part of a namespace in this folder: where the namespace is loaded, its folders are remembered.
func (a *arrival) share(top string) {
	folders := a.before.modules.folders[top]
	if len(folders) > 0 && !slices.Contains(folders, a.p.Folder) {
		a.hints = append(a.hints, "importlib.invalidate_caches() is needed before import where "+top+" is loaded already")
	}
}

func (a *arrival) class() Class {
	switch {
	case len(a.clobber) > 0:
		return Clobber
	case len(a.shadow) > 0:
		return Shadowing
	case a.p.Hooks || len(a.fixed) > 0 || !a.before.onPath(a.p.Folder):
		return AddedAtStart
	default:
		return Added
	}
}

func (a *arrival) detail() string {
	var parts []string
	if len(a.clobber) > 0 {
		parts = append(parts, "has files of "+list(a.clobber))
	}
	if len(a.shadow) > 0 {
		parts = append(parts, "takes over "+list(a.shadow))
	}
	parts = append(parts, unique(a.hidden)...)
	parts = append(parts, unique(a.fixed)...)
	if a.class() == Added {
		parts = append(parts, unique(a.hints)...)
	}
	return strings.Join(parts, "; ")
}
