package restart

// loose is about top modules of the environment's folder that belong to no package: half an installation, or a file that someone put there.
func (c *comparison) loose() {
	for _, name := range c.before.Orphans {
		if !c.after.orphans[name] && !c.after.owned(name) {
			c.found = append(c.found, Change{
				Name: name, Class: Removed, Detail: "a module that belonged to no package", Touches: []Module{{Name: name}},
			})
		}
	}
	for _, name := range c.after.Orphans {
		if !c.before.orphans[name] && !c.before.owned(name) {
			c.found = append(c.found, c.stray(name))
		}
	}
}

// stray is a new module without a package. The environment's folder comes before all that is inherited.
func (c *comparison) stray(name string) Change {
	one := Change{Name: name, Class: Added, Detail: "a module that belongs to no package", Touches: []Module{}}
	var from []string
	for _, other := range c.before.modules.under(name) {
		from = append(from, title(other.p))
		one.Touches = append(one.Touches, place(other.p, other.module))
	}
	if len(from) > 0 {
		one.Class = Shadowing
		one.Detail += "; it takes over " + name + " from " + list(from)
	}
	return one
}
