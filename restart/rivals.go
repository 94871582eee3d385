package restart

import "slices"

// rivals are the other new packages that have a file of p: one of them wins silently.
func (c *comparison) rivals(p *Package) []*Package {
	if c.holders == nil {
		c.hold()
	}
	var out []*Package
	if !c.crowded(p) {
		return nil
	}
	for _, file := range p.Files {
		for _, other := range c.holders[file] {
			if other != p && other.Folder == p.Folder && !slices.Contains(out, other) {
				out = append(out, other)
			}
		}
	}
	return out
}

func (c *comparison) hold() {
	c.holders = map[string][]*Package{}
	for _, name := range c.after.names {
		if p := c.after.byName[name]; c.before.byName[name] == nil && c.crowded(p) {
			for _, file := range p.Files {
				c.holders[file] = append(c.holders[file], p)
			}
		}
	}
}

// crowded spares the files of packages that have their top modules to themselves, which are most.
func (c *comparison) crowded(p *Package) bool {
	m := c.after.modules
	return slices.ContainsFunc(p.Modules, func(module string) bool {
		top := topOf(module)
		return len(m.exact[top])+len(m.below[top]) > 1
	})
}

// overlap takes files that are not known for the same files.
func overlap(a, b *Package) bool { return a.Files == nil || b.Files == nil || common(a.Files, b.Files) }

func common(a, b []string) bool {
	have := make(map[string]bool, len(a))
	for _, file := range a {
		have[file] = true
	}
	return slices.ContainsFunc(b, func(file string) bool { return have[file] })
}
