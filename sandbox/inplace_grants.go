package sandbox

import (
	"path"
	"sort"
	"strings"
)

// granted is a path that the operator opens, where it really is.
type granted struct {
	use   string // "folder", "read", "write" or "project"
	path  string // as given
	real  string
	write bool
	file  bool
}

// grants judges every grant and returns the sound ones, parents before what lies in them.
func (c *inPlace) grants() []granted {
	var out []granted
	take := func(use string, write bool, paths ...string) {
		for _, path := range paths {
			if g, ok := c.grant(use, path, write); ok {
				out = append(out, g)
			}
		}
	}
	if c.p.Folder != "" {
		take("folder", true, c.p.Folder)
	}
	take("write", true, c.p.Write...)
	take("read", false, c.p.Read...)
	if g, ok := c.project(); ok {
		out = append(out, g)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].real < out[j].real })
	return c.distinct(out)
}

func (c *inPlace) grant(use, path string, write bool) (granted, bool) {
	e, ok := c.existing(use, path)
	if !ok {
		return granted{}, false
	}
	before := len(c.faults)
	switch {
	case use == "folder" && e.Kind != EntryFolder:
		c.refuse(use, path, e.Resolved, "is not a folder")
	case e.Kind != EntryFolder && e.Kind != EntryFile:
		c.refuse(use, path, e.Resolved, "is neither a file nor a folder")
	}
	c.refuseBroad(use, path, e.Resolved, write)
	if len(c.faults) > before {
		return granted{}, false
	}
	c.refuseOwn(use, path, e.Resolved)
	if write {
		c.refuseWhatTheHostRuns(use, path, e.Resolved)
	}
	return granted{use, path, e.Resolved, write, e.Kind == EntryFile}, len(c.faults) == before
}

func (c *inPlace) refuseBroad(use, path, real string, write bool) {
	broad := func(reason string) {
		c.fault(&PathError{Use: use, Path: path, Resolved: real, Reason: reason, Broad: true})
	}
	switch {
	case c.holdsHome(real):
		broad("is too broad: it is a home folder or contains one")
	case c.isAny(real, c.paths.broad):
		broad("is too broad: it belongs to the system")
	case c.inAny(real, c.paths.never):
		c.refuse(use, path, real, "lies in a part of the system that is never shown")
	case write && c.inAny(real, c.paths.system):
		c.refuse(use, path, real, "lies in a part of the system that is never written")
	}
}

func (c *inPlace) holdsHome(path string) bool {
	for _, home := range c.f.Homes {
		if c.within(c.canon(home), path) {
			return true
		}
	}
	return false
}

// isAny reports whether one of the patterns fits the path; a drive or the root folder is written without its last slash.
func (c *inPlace) isAny(real string, patterns []string) bool {
	return c.fits(c.slashed(real), patterns)
}

// inAny reports whether one of the patterns fits the path or a folder around it.
func (c *inPlace) inAny(real string, patterns []string) bool {
	for name := c.slashed(real); ; name = name[:strings.LastIndex(name, "/")] {
		if c.fits(name, patterns) {
			return true
		}
		if !strings.Contains(name, "/") {
			return false
		}
	}
}

func (c *inPlace) fits(name string, patterns []string) bool {
	for _, pattern := range patterns {
		if ok, err := path.Match(c.paths.fold(pattern), name); err == nil && ok {
			return true
		}
	}
	return false
}

func (c *inPlace) slashed(real string) string {
	return strings.TrimSuffix(strings.ReplaceAll(c.paths.fold(real), c.paths.separator, "/"), "/")
}

func (c *inPlace) refuseOwn(use, path, real string) {
	for _, own := range c.p.Own {
		r := c.f.Paths[own].Resolved
		if r == "" {
			r = own
		}
		r, err := c.paths.clean(r)
		switch {
		case err != nil:
			c.refuse("own folder", own, "", "%v", err)
		case c.overlap(real, r):
			c.refuse(use, path, real, "%s %s, where kernel-launch or Jupyter keeps its files", c.relation(real, r), quoted(r))
		}
	}
}

// refuseWhatTheHostRuns keeps programs that the host starts later out of writable grants.
func (c *inPlace) refuseWhatTheHostRuns(use, path, real string) {
	check := func(what string, targets ...string) {
		for _, t := range targets {
			if t == "" {
				continue
			}
			if t = c.canon(t); c.overlap(real, t) {
				c.refuse(use, path, real, "%s %s, %s", c.relation(real, t), quoted(t), what)
			}
		}
	}
	check("a folder on PATH", c.f.Search...)
	check("the program that starts the command", c.f.Paths[c.p.Helper].Resolved)
	for _, prefix := range c.p.Prefixes {
		check("an interpreter's installation", c.f.Paths[prefix].Resolved)
	}
}

func (c *inPlace) relation(path, other string) string {
	switch {
	case c.paths.fold(path) == c.paths.fold(other):
		return "is"
	case c.within(path, other):
		return "lies in"
	}
	return "contains"
}

// project is the root around the folder. A root that may not be shown is left out: no one named it.
func (c *inPlace) project() (granted, bool) {
	if !c.p.Project || c.f.Project == "" {
		return granted{}, false
	}
	root := c.canon(c.f.Project)
	if c.holdsHome(root) || c.isAny(root, c.paths.broad) || c.inAny(root, c.paths.never) {
		return granted{}, false
	}
	return granted{use: "project", path: c.f.Project, real: root}, true
}

// distinct drops what another grant opens with the same right and refuses what would be less than it says: a read-only grant in a writable folder.
func (c *inPlace) distinct(all []granted) []granted {
	var out []granted
	for i, g := range all {
		keep := true
		for j, o := range all {
			same := c.paths.fold(g.real) == c.paths.fold(o.real)
			switch {
			case i == j || !c.within(g.real, o.real):
			case same && (g.write == o.write && j < i || o.write && !g.write):
				keep = false
			case same:
			case o.write && !g.write && g.use != "project":
				c.refuse(g.use, g.path, g.real, "lies in %s, which can be written: it cannot be read-only there", quoted(o.real))
				keep = false
			case o.write == g.write && g.use != "folder":
				keep = false
			}
		}
		if keep {
			out = append(out, g)
		}
	}
	return out
}
