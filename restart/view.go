package restart

// A view is a snapshot with its names looked up.
type view struct {
	Snapshot
	names   []string // normalised, in the snapshot's order
	byName  map[string]*Package
	order   map[string]int // of the path's entries
	orphans map[string]bool
	modules *modules // those that a comparison asks for
}

func look(s Snapshot) *view {
	v := &view{
		Snapshot: s, names: make([]string, 0, len(s.Packages)), byName: make(map[string]*Package, len(s.Packages)),
		order: map[string]int{}, orphans: map[string]bool{},
	}
	for i := range s.Packages {
		name := normalName(s.Language, s.Packages[i].Name)
		if v.byName[name] == nil { // the first on the path is the one that is imported
			v.byName[name] = &s.Packages[i]
			v.names = append(v.names, name)
		}
	}
	for i, entry := range s.Path {
		if _, known := v.order[entry]; !known {
			v.order[entry] = i
		}
	}
	for _, name := range s.Orphans {
		v.orphans[name] = true
	}
	return v
}

// behind says that the entry a is known to come later on the path than b.
func (v *view) behind(a, b string) bool {
	i, one := v.order[a]
	j, two := v.order[b]
	return one && two && i > j
}

func (v *view) onPath(folder string) bool {
	_, there := v.order[folder]
	return there || folder == "" || len(v.Path) == 0
}

// owned says whether a package of the environment has a module of this name.
func (v *view) owned(module string) bool {
	for _, one := range v.modules.under(module) {
		if one.p.Owner == OwnerEnv {
			return true
		}
	}
	return false
}
