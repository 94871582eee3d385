package sandbox

import (
	"path/filepath"
	"sort"
	"strings"
)

// grant is a path of the host that the operator shows at its own place.
type grant struct {
	use       string // "folder", "read", "write" or "project"
	path      string // as given
	target    string // resolved: source and target of the mount
	write     bool
	redundant bool // another mount shows it with the same right
}

func (g grant) mount() Mount {
	m := Mount{Kind: MountReadOnly, Source: g.target, Target: g.target, Pinned: true, Why: "granted for reading"}
	if g.write {
		m.Kind, m.Why = MountReadWrite, "granted for writing"
	}
	switch g.use {
	case "folder":
		m.Why = "the working folder"
	case "project":
		m.Why = "the project around the working folder"
	}
	return m
}

// checkGrants judges every grant and returns the sound ones, parents before what lies in them.
func (c *linux) checkGrants() []grant {
	var out []grant
	take := func(use string, write bool, paths ...string) {
		for _, path := range paths {
			if g, ok := c.checkGrant(use, path, write); ok {
				out = append(out, g)
			}
		}
	}
	if c.p.Folder != "" {
		take("folder", true, c.p.Folder)
	}
	take("write", true, c.p.Write...)
	take("read", false, c.p.Read...)
	out = append(out, c.project()...)
	sort.SliceStable(out, func(i, j int) bool { return out[i].target < out[j].target })
	return c.markRedundant(out)
}

func (c *linux) checkGrant(use, path string, write bool) (grant, bool) {
	e, ok := c.existing(use, path)
	if !ok {
		return grant{}, false
	}
	before := len(c.faults)
	if use == "folder" && e.Kind != EntryFolder {
		c.refuse(use, path, e.Resolved, "is not a folder")
	}
	c.refuseBroad(use, path, e.Resolved, write)
	if len(c.faults) > before {
		return grant{}, false // what else such a folder holds is no news
	}
	c.refuseOwn(use, path, e.Resolved)
	if write {
		c.refuseWhatTheHostRuns(use, path, e.Resolved)
		c.refuseSensitive(use, path, e.Resolved)
		c.refuseOnIsland(use, path, e.Resolved)
		c.warnLinked(use, path, e)
	}
	c.warnOutward(use, path, e)
	c.judgeSockets(use, path, e)
	return grant{use: use, path: path, target: e.Resolved, write: write}, len(c.faults) == before
}

// refuseBroad holds for every grant: a folder that contains someone's whole home or a part of the system is never shown.
func (c *linux) refuseBroad(use, path, resolved string, write bool) {
	switch {
	case c.holdsHome(resolved):
		c.broad(use, path, resolved, "is too broad: it is a home folder or contains one")
	case inList(resolved, tooBroad) || resolved == c.f.Runtime:
		c.broad(use, path, resolved, "is too broad: it belongs to the system")
	case inAny(resolved, neverBelow):
		c.refuse(use, path, resolved, "lies in a part of the system that is never shown")
	case write && inAny(resolved, neverWritten):
		c.refuse(use, path, resolved, "lies in a part of the system that is never written")
	}
}

func (c *linux) holdsHome(path string) bool {
	for _, home := range c.f.Homes {
		if within(home, path) {
			return true
		}
	}
	return false
}

func (c *linux) refuseOwn(use, path, resolved string) {
	for _, own := range c.p.Own {
		if !filepath.IsAbs(own) {
			c.refuse("own folder", own, "", "is not an absolute path")
			continue
		}
		r := c.entry(own).Resolved
		if r == "" {
			r = filepath.Clean(own)
		}
		if overlap(resolved, r) {
			c.refuse(use, path, resolved, "%s %s, where kernel-launch or Jupyter keeps its files", relation(resolved, r), quoted(r))
		}
	}
}

// refuseOnIsland refuses a writable grant deep in what stays read-only. One of the island itself lifts it.
func (c *linux) refuseOnIsland(use, path, resolved string) {
	for _, i := range c.islands {
		if below(resolved, i.path) {
			c.refuse(use, path, resolved, "lies in %s, which stays read-only: it can only be granted for writing as a whole", quoted(i.path))
		}
	}
}

// refuseWhatTheHostRuns keeps programs that the host starts later out of writable grants, but for those on an island: a Jupyter server is often started
// from the environment in its own folder.
func (c *linux) refuseWhatTheHostRuns(use, path, resolved string) {
	check := func(what string, targets ...string) {
		for _, t := range targets {
			if t != "" && t != "/" && overlap(resolved, t) && !c.onIsland(t) {
				c.refuse(use, path, resolved, "%s %s, %s", relation(resolved, t), quoted(t), what)
			}
		}
	}
	check("a folder on PATH", c.f.Search...)
	check("the program that starts the command", c.entry(c.p.Helper).Resolved)
	check("the sandbox program", c.f.Bubblewrap)
	for _, prefix := range c.p.Prefixes {
		if r := c.entry(prefix).Resolved; r != "/usr" && r != "/usr/local" { // judged by neverWritten, which knows their parts
			check("an interpreter's installation", r)
		}
	}
}

func relation(path, other string) string {
	switch {
	case path == other:
		return "is"
	case within(path, other):
		return "lies in"
	}
	return "contains"
}

// judgeSockets: connect works through a read-only mount, so a socket in a grant is a way to whoever listens. The working folder is not refused for what
// its user lets listen there, and nothing can be masked in it: that is said.
func (c *linux) judgeSockets(use, path string, e Entry) {
	if e.Kind == EntrySocket {
		c.refuse(use, path, e.Resolved, "is a socket: whoever listens there could be commanded from inside")
	}
	switch {
	case len(e.Sockets) == 0:
	case use == "folder":
		c.warn("%s %s holds the socket %s: whoever listens there can be commanded from inside", use, quoted(path), some(e.Sockets))
	default:
		c.refuse(use, path, e.Resolved, "holds the socket %s: whoever listens there could be commanded from inside", some(e.Sockets))
	}
}

func (c *linux) warnLinked(use, path string, e Entry) {
	if len(e.Linked) > 0 {
		c.warn("%s %s holds files that have another name elsewhere, which a write inside changes as well: %s", use, quoted(path), some(e.Linked))
	}
}

// warnOutward tells of links that lead out of the grant: inside they lead to what is shown there, if to anything.
func (c *linux) warnOutward(use, path string, e Entry) {
	if len(e.Outward) > 0 {
		c.warn("%s %s holds links to what is not shown with it: %s", use, quoted(path), some(e.Outward))
	}
}

func some(names []string) string {
	const shown = 3
	out := make([]string, 0, shown+1)
	for i, n := range names {
		if i == shown {
			out = append(out, "…")
			break
		}
		out = append(out, quoted(n))
	}
	return strings.Join(out, ", ")
}

// markRedundant drops what another grant shows with the same right and refuses what would be less than it says: a
// read-only grant in a writable folder. The grants are sorted, so that parents come first.
func (c *linux) markRedundant(grants []grant) []grant {
	var out []grant
	for i, g := range grants {
		keep := true
		for j, o := range grants {
			if i == j || !within(g.target, o.target) {
				continue
			}
			switch {
			case g.target == o.target && g.write == o.write:
				g.redundant = g.redundant || j < i
			case g.target == o.target:
				g.redundant = g.redundant || !g.write
			case o.write && !g.write && (g.use == "project" || c.onIsland(g.target)):
				g.redundant = true
			case o.write && !g.write:
				c.refuse(g.use, g.path, g.target, "lies in %s, which can be written: it cannot be read-only there", quoted(o.target))
				keep = false
			case o.write == g.write:
				g.redundant = true
			}
		}
		if keep {
			out = append(out, g)
		}
	}
	return out
}
