package restart

import (
	"cmp"
	"slices"
	"strings"
)

// Diff says how after differs from before, sorted by name. Names are compared as PEP 503 and versions as PEP 440 have them for Python, as text
// for R.
func Diff(before, after Snapshot) Changes {
	c := &comparison{before: look(before), after: look(after)}
	c.index()
	c.packages()
	c.annotate()
	c.environment()
	c.loose()
	slices.SortStableFunc(c.found, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(a.Class), string(b.Class)), strings.Compare(a.Detail, b.Detail))
	})
	return c.found
}

type comparison struct {
	before, after *view
	found         Changes
	moved         map[string]bool       // names that found speaks of
	holders       map[string][]*Package // of files that new packages bring
}

// index prepares what is asked about modules: those that packages bring, and those without a package.
func (c *comparison) index() {
	tops := map[string]bool{}
	for _, name := range c.after.names {
		for _, module := range gained(c.before.byName[name], c.after.byName[name]) {
			tops[topOf(module)] = true
		}
	}
	for _, name := range slices.Concat(c.before.Orphans, c.after.Orphans) {
		tops[name] = true
	}
	c.before.modules, c.after.modules = index(c.before, tops), index(c.after, tops)
}

func (c *comparison) packages() {
	c.moved = map[string]bool{}
	for _, name := range c.before.names {
		old := c.before.byName[name]
		if now := c.after.byName[name]; now == nil {
			c.note(c.removed(name, old))
		} else if change, differs := c.compare(name, old, now); differs {
			c.note(c.gain(change, old, now))
		}
	}
	for _, name := range c.after.names {
		if c.before.byName[name] == nil {
			c.note(c.newcomer(name, c.after.byName[name]))
		}
	}
}

func (c *comparison) note(one Change) {
	c.moved[one.Name] = true
	c.found = append(c.found, one)
}

func (c *comparison) removed(name string, old *Package) Change {
	return Change{Name: name, From: old.Version, FromOwner: old.Owner, Class: Removed, Touches: modulesOf(old)}
}

func (c *comparison) compare(name string, old, now *Package) (Change, bool) {
	one := Change{Name: name, From: old.Version, To: now.Version, FromOwner: old.Owner, ToOwner: now.Owner}
	same := sameContent(c.after.Language, old, now)
	elsewhere := old.Owner != now.Owner || old.Owner == OwnerBase && old.Folder != now.Folder
	switch {
	case same && !elsewhere:
		return Change{}, false
	case same:
		one.Class, one.Touches = Relocated, namespacesOf(old)
	case old.Owner == OwnerEnv && now.Owner == OwnerBase:
		one.Class, one.Touches = Uncovered, modulesOf(old)
	default:
		one.Class, one.Touches = Changed, modulesOf(old)
	}
	return one, true
}

// sameContent believes an equal version only within one owner when a fingerprint is missing: a system's copy often differs under its version.
func sameContent(language string, old, now *Package) bool {
	if !sameVersion(language, old.Version, now.Version) {
		return false
	}
	if old.Fingerprint == "" || now.Fingerprint == "" {
		return old.Owner == now.Owner
	}
	return old.Fingerprint == now.Fingerprint
}

// modulesOf is nil when they are not known. An editable package's files can be anywhere, so that only the names say something.
func modulesOf(p *Package) []Module {
	if p.Modules == nil {
		return nil
	}
	out := make([]Module, 0, len(p.Modules))
	for _, module := range p.Modules {
		out = append(out, place(p, module))
	}
	return out
}

func place(p *Package, module string) Module {
	if p.Hooks || p.Folder == "" {
		return Module{Name: dotted(module)}
	}
	return Module{Name: dotted(module), File: p.Folder + "/" + module}
}

func namespacesOf(p *Package) []Module {
	out := []Module{}
	for _, module := range p.Namespaces {
		out = append(out, Module{Name: dotted(module)})
	}
	return out
}
