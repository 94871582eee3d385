package restart

import "slices"

// What kernels are made of. Systems' packages often declare no requirements, so that ipykernel alone would not lead to the others.
var runtimeRoots = map[string][]string{
	Python: {
		"comm", "debugpy", "ipykernel", "ipython", "jupyter-client", "jupyter-core", "matplotlib-inline", "nest-asyncio", "packaging", "psutil",
		"pyzmq", "tornado", "traitlets",
	},
	R: {"IRdisplay", "IRkernel", "crayon", "evaluate", "pbdZMQ", "repr"},
}

// annotate adds to the changes what only the whole tells: who needs them, and whether the kernel itself runs on them.
func (c *comparison) annotate() {
	if len(c.found) == 0 {
		return
	}
	needed := c.needed()
	own := c.runtime()
	for i := range c.found {
		one := &c.found[i]
		one.Runtime = own[one.Name]
		if by := needed[one.Name]; len(by) > 0 && one.To != "" {
			one.Detail = joined("needed by "+list(by), one.Detail)
		}
	}
}

// needed maps names to the packages that came or changed and require them: the others required them before and explain nothing.
func (c *comparison) needed() map[string][]string {
	out := map[string][]string{}
	for _, name := range c.after.names {
		if !c.moved[name] {
			continue
		}
		for _, requirement := range c.after.byName[name].Requires {
			if other := requiredName(c.after.Language, requirement); other != name && c.moved[other] {
				out[other] = append(out[other], name)
			}
		}
	}
	return out
}

// runtime is the closure of the kernel's own requirements, in either snapshot.
func (c *comparison) runtime() map[string]bool {
	language := c.after.Language
	found := map[string]bool{}
	queue := slices.Clone(runtimeRoots[language])
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if found[name] {
			continue
		}
		found[name] = true
		for _, v := range []*view{c.before, c.after} {
			if p := v.byName[name]; p != nil {
				for _, requirement := range p.Requires {
					queue = append(queue, requiredName(language, requirement))
				}
			}
		}
	}
	return found
}

// Runtime names what of the changes a kernel itself runs on and does not merely gain: after them it may not start, or not be heard.
func (c Changes) Runtime() []string {
	var out []string
	for _, one := range c.breaking() {
		if one.Runtime {
			out = append(out, one.Name)
		}
	}
	return out
}
