package sandbox

import (
	"strconv"
	"strings"
)

// hide closes what lies in an open folder and is not to be seen. A rule needs nothing to stand at its path, so what does not exist yet is closed as well.
func (c *seatbelt) hide() {
	for _, path := range c.p.Hide {
		if _, err := c.paths.clean(path); err != nil {
			c.refuse("hide", path, "", "%v", err)
			continue
		}
		real := c.canon(path)
		if e := c.f.Paths[path]; e.Resolved != "" {
			real = c.canon(e.Resolved)
		}
		c.hideOne(path, real)
	}
	for _, home := range c.f.Homes {
		for _, name := range darwinSensitive {
			if real := c.canon(home) + "/" + name; c.opened(real) {
				c.mask(real, "it holds keys or passwords")
			}
		}
	}
	if len(c.p.Hide) > 0 {
		c.warn("a hidden path is closed under the spelling that is given: it has to be the one that the folder lists, with its case and its accents")
	}
}

// islands are the policy's own, besides those known by name.
func (c *seatbelt) islands() {
	for _, path := range c.p.Islands {
		real, err := c.paths.clean(path)
		if err != nil {
			c.refuse("island", path, "", "%v", err)
			continue
		}
		if e := c.f.Paths[path]; e.Resolved != "" {
			real = c.canon(e.Resolved)
		}
		c.params = append(c.params, Parameter{Name: numbered("ISLAND", c.params), Value: real, Why: "stays read-only in a writable folder"})
		c.plan.Mounts = append(c.plan.Mounts, Mount{Kind: MountReadOnly, Source: real, Target: real, Island: true, Optional: true, Why: "stays read-only"})
	}
}

func (c *seatbelt) hideOne(path, real string) {
	for _, r := range c.open {
		if r.real != "" && c.within(r.real, real) && c.needed(r) {
			c.refuse("hide", path, real, "contains %s, which the command needs", quoted(r.real))
			return
		}
	}
	if c.opened(real) {
		c.mask(real, "hidden")
	}
}

// needed are the rules without which the command does not run.
func (c *seatbelt) needed(r sbplRule) bool {
	return !isNumbered(r.param, "READ") && !isNumbered(r.param, "WRITE") && r.param != "PROJECT"
}

// opened reports whether something of the path can be seen: it lies in an open folder, or such a folder in it.
func (c *seatbelt) opened(real string) bool {
	for _, r := range c.open {
		if r.real != "" && c.overlap(real, r.real) {
			return true
		}
	}
	return c.inAny(real, darwinReadable)
}

func (c *seatbelt) mask(real, why string) {
	c.params = append(c.params, Parameter{Name: numbered("HIDDEN", c.params), Value: real, Why: why})
	c.hidden = append(c.hidden, maskedPath{real, why})
}

// numbered is the next free name of a kind: READ_1, READ_2, …
func numbered(kind string, params []Parameter) string {
	n := 1
	for _, p := range params {
		if isNumbered(p.Name, kind) {
			n++
		}
	}
	return kind + "_" + strconv.Itoa(n)
}

func isNumbered(name, kind string) bool { return strings.HasPrefix(name, kind+"_") }
