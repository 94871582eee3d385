package sandbox

import "path/filepath"

// scratch are the private, bounded folders. The one over the real home comes before everything that is shown below it.
func (c *linux) scratch() {
	c.add(Mount{Kind: MountTmpfs, Target: "/dev/shm", Size: c.p.Limits.shm(), Mode: 0o1777, Why: "shared memory of its own"})
	c.add(Mount{Kind: MountTmpfs, Target: "/tmp", Size: c.p.Limits.tmp(), Mode: 0o1777, Why: "temporary files of its own"})
	if home := c.p.RealHome; home != "" {
		c.coverHome(home)
	}
}

func (c *linux) coverHome(home string) {
	if !filepath.IsAbs(home) {
		c.refuse("home folder", home, "", "is not an absolute path")
		return
	}
	e := c.entry(home)
	if e.Kind != EntryFolder || e.Resolved == "/" || inAny(e.Resolved, neverBelow) || inAny(e.Resolved, neverWritten) {
		return // nothing to cover, or a system account whose home is part of the system that is shown anyway
	}
	c.add(Mount{Kind: MountTmpfs, Target: e.Resolved, Size: coverSize, Mode: 0o700, Why: "the real home folder is covered"})
	c.aliasFor(home, e.Resolved)
}

// prefixes are the interpreters that do not lie in what is shown of the system.
func (c *linux) prefixes() {
	var shown []Mount
	for _, path := range c.p.Prefixes {
		e, ok := c.existing("interpreter", path) // a folder, or a single program that lies outside of its own
		if !ok {
			continue
		}
		if !c.visible(e.Resolved) && !c.onIsland(e.Resolved) {
			if c.holdsHome(e.Resolved) || inList(e.Resolved, tooBroad) {
				c.broad("interpreter", path, e.Resolved, "is installed in a folder too broad to be shown")
				continue
			}
			shown = append(shown, Mount{Kind: MountReadOnly, Source: e.Resolved, Target: e.Resolved, Why: "an interpreter and its libraries"})
		}
		c.aliasFor(path, e.Resolved)
	}
	for _, m := range outermost(shown) {
		c.add(m)
	}
}

// ours are the places below /run/kernel-launch.
func (c *linux) ours() {
	c.add(Mount{Kind: MountTmpfs, Target: PrivateDir, Size: privateSize, Mode: 0o700, Why: "the kernel's own connection file"})
	if c.p.Helper != "" {
		if e, ok := c.existing("helper", c.p.Helper); ok && e.Kind == EntryFile {
			c.add(Mount{Kind: MountReadOnly, Source: e.Resolved, Target: HelperTarget, Why: "the program that starts and watches the command"})
			c.add(Mount{Kind: MountLink, Source: "../helper", Target: BinDir + "/kernel-launch", Why: "the same, where programs are looked for"})
		} else if ok {
			c.refuse("helper", c.p.Helper, e.Resolved, "is not a file")
		}
	}
	c.keptHome()
	if c.p.Folder == "" {
		c.add(Mount{Kind: MountTmpfs, Target: WorkTarget, Size: c.p.Limits.tmp(), Mode: 0o700, Why: "a working folder that is thrown away"})
	}
}

func (c *linux) keptHome() {
	target := c.p.homeTarget()
	if !filepath.IsAbs(target) || filepath.Clean(target) != target || inList(target, tooBroad) {
		c.refuse("home inside", target, "", "is not a clean absolute path of its own")
		return
	}
	for _, g := range c.grants {
		if overlap(g.target, target) {
			c.refuse("home inside", target, "", "must not share a path with %s %s", g.use, g.target)
		}
	}
	if c.p.KeptHome == "" {
		c.add(Mount{Kind: MountTmpfs, Target: target, Size: c.p.Limits.tmp(), Mode: 0o700, Why: "a home folder that is thrown away"})
		return
	}
	e := c.entry(c.p.KeptHome)
	ok := e.Kind == EntryMissing && e.Fault == "" && filepath.IsAbs(c.p.KeptHome) // whoever starts the plan makes it: planning writes nothing
	if !ok {
		e, ok = c.folder("kept home", c.p.KeptHome)
	}
	if ok {
		c.add(Mount{Kind: MountReadWrite, Source: e.Resolved, Target: target, Why: "the home folder, kept for this environment and folder"})
	}
}

func (c *linux) showGrants() {
	for _, g := range c.grants {
		if !g.redundant && (g.write || !c.visible(g.target)) {
			c.add(g.mount())
		}
		c.aliasFor(g.path, g.target)
	}
}

// trees are the program's own folders: written ones, then read-only ones, each at a path of its choice. They are mounted
// after everything else, so that no grant and no mask can stand in their place.
func (c *linux) trees() []Mount {
	var out []Mount
	for _, t := range c.p.Writable {
		out = c.tree(out, t, MountReadWrite, "filled by this command")
	}
	for _, t := range c.p.Trees {
		out = c.tree(out, t, MountReadOnly, "as it is now, pinned")
	}
	return out
}

func (c *linux) tree(out []Mount, t Tree, kind MountKind, why string) []Mount {
	e, ok := c.existing("tree", t.Source)
	if !ok {
		return out
	}
	target := filepath.Clean(t.Target)
	if !filepath.IsAbs(t.Target) || inList(target, tooBroad) || within(target, "/proc") || within(target, "/dev") {
		c.refuse("tree target", t.Target, "", "is not an absolute path where a tree can stand")
		return out
	}
	real := target
	if parent := c.entry(filepath.Dir(target)); parent.Resolved != "" {
		real = filepath.Join(parent.Resolved, filepath.Base(target))
	}
	c.aliasFor(target, real)
	return append(out, Mount{Kind: kind, Source: e.Resolved, Target: real, Why: why})
}

// seal makes the private root and /dev read-only: what is made there would look kept and is not.
func (c *linux) seal() {
	c.add(Mount{Kind: MountSeal, Target: "/dev", Why: "nothing can be left there"})
	c.add(Mount{Kind: MountSeal, Target: "/", Why: "nothing can be left there"})
}
