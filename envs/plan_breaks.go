package envs

import (
	"maps"
	"slices"
)

// breaks names what is visible, has what it requires, and will not have it any more.
func (w *work) breaks(p *Plan) (list []Breakage) {
	now := w.formerView()
	after := map[string]string{}
	for _, a := range p.After.Packages {
		after[a.Name] = stubVersion(a.Version)
	}
	for _, name := range w.view.names() {
		there := w.view.packages[name]
		if after[name] != there.stub {
			continue // it moves itself
		}
		for _, r := range now.requiresOf(there) {
			if v, ok := after[r.name]; r.applies(w.view.env) && (!ok || !r.specs.allow(v)) {
				list = append(list, Breakage{Name: name, Version: there.Version, Requires: r.name + r.specs.String(), Found: v})
			}
		}
	}
	return list
}

// formerView has what goes in its place still: what needed it worked.
func (w *work) formerView() scenery {
	now := w.view
	now.packages = maps.Clone(w.view.packages)
	for _, old := range w.before.Packages {
		if slices.Contains(w.remove, old.Name) {
			now.packages[old.Name] = visible{Package: Package{Name: old.Name, Version: old.Version}, stub: stubVersion(old.Version)}
		}
	}
	return now
}
