package envs

import (
	"maps"
	"slices"
)

// scenery is what can be seen, and the rules by which a resolver is told about it.
type scenery struct {
	packages map[string]visible
	env      markerValues
	// compiled are the names that were compiled against the numpy that is there: another major version breaks them, whatever their metadata says.
	compiled map[string]bool
}

func (v scenery) names() []string { return slices.Sorted(maps.Keys(v.packages)) }

// holds says whether what r asks for is there, extras included.
func (v scenery) holds(r requirement) bool {
	there, ok := v.packages[r.name]
	return ok && r.specs.allow(there.stub) && v.hasExtras(there, r.extras, 0)
}

func (v scenery) holdsAll(wanted []requirement) bool {
	return !slices.ContainsFunc(wanted, func(r requirement) bool { return !v.holds(r) })
}

const extrasDeepest = 8

// hasExtras says whether a distribution has the extras, and all that they require.
func (v scenery) hasExtras(there visible, extras []string, depth int) bool {
	for _, e := range extras {
		if !has(there.extras, e) {
			return false
		}
		for _, r := range there.requires {
			if r.applies(v.env) || !r.applies(v.env, e) {
				continue
			}
			other, ok := v.packages[r.name]
			if !ok || !r.specs.allow(other.stub) || depth > extrasDeepest || !v.hasExtras(other, r.extras, depth+1) {
				return false
			}
		}
	}
	return true
}

// requiresOf lists what a stub asks for: of the requirements without an extra only those that hold today. What was broken before is not for this
// plan to repair, and distributions leave requirements out or get them wrong.
func (v scenery) requiresOf(p visible) (list []requirement) {
	for _, r := range p.requires {
		if r.applies(v.env) && v.holds(r) || !r.applies(v.env) && r.applies(v.env, p.extras...) {
			list = append(list, r)
		}
	}
	if v.compiled[p.Name] {
		list = append(list, numpyBefore2)
	}
	return list
}

// moving lists the visible names that cannot stay as they are: another version is asked for, or an extra that this one does not have.
func (v scenery) moving(wanted []requirement) map[string]bool {
	list := map[string]bool{}
	for _, r := range wanted {
		there, ok := v.packages[r.name]
		if !ok {
			continue
		}
		lacks := slices.ContainsFunc(r.extras, func(e string) bool { return !has(there.extras, e) })
		if lacks || !r.specs.allow(there.stub) {
			list[r.name] = true
		}
	}
	return list
}

// dependants lists the visible names that need one of those that move.
func (v scenery) dependants(moves map[string]bool) (list []string) {
	if len(moves) == 0 {
		return nil
	}
	for _, name := range v.names() {
		needs := func(r requirement) bool { return moves[r.name] && r.applies(v.env) }
		if !moves[name] && slices.ContainsFunc(v.requiresOf(v.packages[name]), needs) {
			list = append(list, name)
		}
	}
	return list
}
