package sandbox

import (
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"
)

// refuseBelowWritable is the last word on CVE-2026-87766: bubblewrap makes a missing destination by walking through what
// the sandbox may have planted there, so no destination may lie below a writable folder of the host. A fresh tmpfs is none. The one exception are islands:
// folders that exist and lie directly beneath, where a link in their place ends nothing but the start.
func (c *linux) refuseBelowWritable() {
	var writable []string
	for _, m := range c.plan.Mounts {
		for _, w := range writable {
			if below(m.Target, w) && !(m.Island && filepath.Dir(m.Target) == w) {
				c.refuse("mount", m.Target, "", "would be made below %s, which can be written from inside", quoted(w))
				break
			}
		}
		if m.Kind == MountReadWrite {
			writable = append(writable, m.Target)
		}
	}
}

// unpinCovered leaves alone what cannot be seen from inside, since something else is mounted over it.
func (c *linux) unpinCovered() {
	for i := range c.plan.Mounts {
		m := &c.plan.Mounts[i]
		for _, later := range c.plan.Mounts[i+1:] {
			if m.Pinned && later.Kind != MountLink && later.Kind != MountSeal && within(m.Target, later.Target) {
				m.Pinned = false
			}
		}
	}
}

// refuseUnspeakable guards the option list, whose parts end in a zero byte, and the order to the inside, which is JSON: it would name another path.
func (c *linux) refuseUnspeakable() {
	for _, m := range c.plan.Mounts {
		switch path := m.Source + m.Target; {
		case strings.Contains(path, "\x00"):
			c.refuse("mount", m.Target, "", "holds a zero byte")
		case !utf8.ValidString(path):
			c.refuse("mount", m.Target, "", "has a name that is not UTF-8: rename it")
		}
	}
}

// visible reports whether a path already lies in something that is shown, read-only or not, or in /proc or /dev.
func (c *linux) visible(path string) bool {
	for _, m := range c.plan.Mounts {
		if (m.shows() || m.Kind == MountProc || m.Kind == MountDev) && within(path, m.Target) {
			return true
		}
	}
	return false
}

// aliasFor keeps the spelling of a path that was given through a symbolic link.
func (c *linux) aliasFor(path, target string) {
	if path = filepath.Clean(path); path != target {
		c.alias = append(c.alias, Mount{Kind: MountLink, Source: target, Target: path, Why: "the same under the name that was given"})
	}
}

// links makes the aliases. One that lies in something shown is there already, as the host's own link.
func (c *linux) links() {
	sort.SliceStable(c.alias, func(i, j int) bool { return c.alias[i].Target < c.alias[j].Target })
	var made []string
	for _, m := range c.plan.Mounts {
		if m.Kind == MountLink {
			made = append(made, m.Target)
		}
	}
	for _, a := range c.alias {
		if inAny(a.Target, made) || c.visible(a.Target) {
			continue
		}
		made = append(made, a.Target)
		c.add(a)
	}
}

func countMounts(mounts []Mount) int {
	n := 0
	for _, m := range mounts {
		if m.Kind != MountLink && m.Kind != MountFile && m.Kind != MountCopy && m.Kind != MountSeal {
			n++
		}
	}
	return n
}

// outermost drops every mount that lies in another one and sorts the rest, parents and names first.
func outermost(mounts []Mount) []Mount {
	sort.SliceStable(mounts, func(i, j int) bool { return mounts[i].Target < mounts[j].Target })
	var out []Mount
	for _, m := range mounts {
		if len(out) == 0 || !within(m.Target, out[len(out)-1].Target) {
			out = append(out, m)
		}
	}
	return out
}

func inList(path string, list []string) bool {
	for _, p := range list {
		if p == path {
			return true
		}
	}
	return false
}
