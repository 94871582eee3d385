package sandbox

// mask covers a file or folder of the host. The cover of a folder is sealed only after everything is mounted: the program's own trees may stand in it.
func (c *linux) mask(e Entry, why string) {
	if e.Kind == EntryFolder {
		c.add(Mount{Kind: MountTmpfs, Target: e.Resolved, Size: maskSize, Mode: 0o555, Why: why})
		c.covers = append(c.covers, Mount{Kind: MountSeal, Target: e.Resolved, Why: why})
		return
	}
	c.add(Mount{Kind: MountMask, Source: "/dev/null", Target: e.Resolved, Why: why})
}

// maskSeen covers what lies in something of the host that is shown read-only, and leaves alone what is not seen, covered already, or shown for itself.
func (c *linux) maskSeen(e Entry, why string) {
	inner := Mount{}
	for _, m := range c.plan.Mounts {
		if within(e.Resolved, m.Target) && m.Kind != MountLink && m.Kind != MountSeal {
			inner = m // later mounts lie on earlier ones
		}
	}
	if inner.Kind == MountReadOnly && inner.Source == inner.Target && inner.Target != e.Resolved && !inner.Island {
		c.mask(e, why)
	}
}
