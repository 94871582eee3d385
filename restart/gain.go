package restart

import "slices"

// gain adds to a package's change what its new modules meet: an upgrade can take over another package's module, or its files, as a new package can.
func (c *comparison) gain(one Change, old, now *Package) Change {
	fresh := gained(old, now)
	if one.Class.Additive() || one.Touches == nil || len(fresh) == 0 {
		return one
	}
	a := &arrival{comparison: c, name: one.Name, p: now, touches: []Module{}}
	for _, module := range fresh {
		a.meet(module)
	}
	if len(a.touches) > 0 {
		one.Touches = append(one.Touches, a.touches...)
		one.Detail = joined(one.Detail, a.detail())
	}
	return one
}

// gained are the modules that a package did not have; old may be nil.
func gained(old, now *Package) []string {
	if old == nil {
		return now.Modules
	}
	if slices.Equal(old.Modules, now.Modules) {
		return nil
	}
	had := make(map[string]bool, len(old.Modules)) // some have thousands
	for _, module := range old.Modules {
		had[module] = true
	}
	return slices.DeleteFunc(slices.Clone(now.Modules), func(module string) bool { return had[module] })
}
