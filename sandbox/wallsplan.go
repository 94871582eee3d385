package sandbox

// walls decides what is put up besides the mounts, and says what holds and what does not.
func (c *linux) walls() {
	c.filter()
	c.landlock()
	c.islandGuarantees()
}

func (c *linux) filter() {
	c.plan.Filter = filterFor(c.f.Arch, c.p.Debug)
	if c.plan.Filter == nil {
		c.lacking("system-calls", "", "system calls are not filtered on %s: what the host's kernel offers to any program can be called", c.f.Arch)
		return
	}
	c.enforced("system-calls", "system calls that no notebook needs are refused: mounting, loading into the kernel, other programs' memory, set-uid bits")
	if c.p.Debug {
		c.lacking("debug", "debug: false", "ptrace is allowed: the processes inside can read and change each other, and the host's kernel is asked more")
		c.warn("debug: the filter of system calls lets ptrace and its like through")
	}
}
