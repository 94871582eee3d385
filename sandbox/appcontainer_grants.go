package sandbox

const untilLast = "the last command of this container has ended"

// give adds an entry that gives rights, and shows it among the mounts.
func (c *appContainer) give(path, rights string, file bool, why string) {
	g := ContainerGrant{Path: path, Rights: rights, Mask: rightsRX, Inherit: "(OI)(CI)", Until: untilLast, Why: why}
	kind := MountReadOnly
	if rights == "M" {
		g.Mask, kind = rightsM, MountReadWrite
	}
	if file {
		g.Inherit = ""
	}
	c.a.Grants = append(c.a.Grants, g)
	c.show(kind, path, why)
}

// deny adds an entry that takes rights away. It belongs to the file or folder itself and goes with it when it is moved.
func (c *appContainer) deny(path, rights string, mask uint32, file bool, why string) {
	g := ContainerGrant{Path: path, Rights: rights, Deny: true, Mask: mask, Inherit: "(OI)(CI)", Optional: true, Until: untilLast, Why: why}
	if file {
		g.Inherit = ""
	}
	c.a.Grants = append(c.a.Grants, g)
}

// close denies what lies in an open folder and is not to be seen or changed. An entry needs something to stand on: what is made later is open.
func (c *appContainer) close(grants []granted) {
	for _, g := range grants {
		if g.use == "project" {
			for _, name := range projectSecrets {
				c.mask(g.real+`\`+name, true, "it may hold keys or passwords")
			}
		}
		if !g.write || g.file {
			continue
		}
		for _, name := range islandsInPlace {
			c.island(g.real + `\` + name)
		}
	}
	for _, path := range c.p.Islands {
		if e, ok := c.existing("island", path); ok {
			c.island(e.Resolved)
		}
	}
	c.hide()
}

func (c *appContainer) island(path string) {
	c.deny(path, "W", rightsW, false, "it stays as it is, since programs outside act on it")
	c.plan.Mounts = append(c.plan.Mounts, Mount{Kind: MountReadOnly, Source: path, Target: path, Island: true, Optional: true, Why: "programs outside act on what is in it"})
}

func (c *appContainer) hide() {
	for _, path := range c.p.Hide {
		if _, err := c.paths.clean(path); err != nil {
			c.refuse("hide", path, "", "%v", err)
			continue
		}
		real := c.canon(path)
		e := c.f.Paths[path]
		if e.Resolved != "" {
			real = c.canon(e.Resolved)
		}
		if !c.hideable(path, real) {
			continue
		}
		if !e.exists() {
			c.warn("%s does not exist and so cannot be hidden: it will be seen once it does", quoted(path))
			continue
		}
		c.mask(real, e.Kind == EntryFile, "hidden")
	}
	for _, home := range c.f.Homes {
		for _, name := range windowsSensitive {
			if real := c.canon(home) + `\` + name; c.given(real) {
				c.mask(real, false, "it holds keys or passwords")
			}
		}
	}
}

// hideable reports whether the path lies in something that is given. What the command needs is not hidden silently.
func (c *appContainer) hideable(path, real string) bool {
	for _, g := range c.a.Grants {
		if !g.Deny && g.Why != "granted for reading" && g.Why != "granted for writing" && c.within(g.Path, real) {
			c.refuse("hide", path, real, "contains %s, which the command needs", quoted(g.Path))
			return false
		}
	}
	if c.inAny(real, windowsOpen) {
		c.refuse("hide", path, real, "lies in a part of Windows that every container can read")
		return false
	}
	return c.given(real)
}

func (c *appContainer) given(real string) bool {
	for _, g := range c.a.Grants {
		if !g.Deny && c.overlap(real, g.Path) {
			return true
		}
	}
	return false
}

func (c *appContainer) mask(real string, file bool, why string) {
	c.deny(real, "F", rightsFull, file, why)
	c.hidden = append(c.hidden, maskedPath{real, why})
}
