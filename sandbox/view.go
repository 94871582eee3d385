package sandbox

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
)

// system shows /usr, the stores, what the root folder links to, and the chosen files of /etc.
func (c *linux) system() {
	if e := c.entry("/usr"); e.exists() {
		c.add(Mount{Kind: MountReadOnly, Source: e.Resolved, Target: "/usr", Why: "the system's programs and libraries"})
	}
	for _, list := range [][]systemPath{storePaths, rootPaths, etcPaths} {
		for _, s := range list {
			for _, path := range c.matches(s.Pattern) {
				c.systemPath(path, s.Why)
			}
		}
	}
	c.accounts()
	c.names()
}

// systemPath makes a link into what is shown again, as a link: it costs no mount. A file of /etc is copied, which costs a
// start less than a mount; who changes such a file replaces it, which a mount of the old one would not follow either.
// Everything else is bound by its real path, since bubblewrap refuses to bind over a link.
func (c *linux) systemPath(path, why string) {
	e := c.entry(path)
	if e.Kind != EntryFolder && e.Kind != EntryFile || inAny(e.Resolved, etcSecrets) {
		return
	}
	if e.Link != "" && e.Resolved != path && c.visible(e.Resolved) {
		text := e.Link
		if joined(path, text) != e.Resolved {
			text = e.Resolved // a longer chain of links, part of which may not be shown
		}
		c.add(Mount{Kind: MountLink, Source: text, Target: path, Why: why})
		return
	}
	if e.Kind == EntryFile && below(path, "/etc") {
		c.add(Mount{Kind: MountCopy, Source: e.Resolved, Target: path, Mode: 0o444, Optional: true, Why: why})
		return
	}
	c.add(Mount{Kind: MountReadOnly, Source: e.Resolved, Target: path, Why: why})
}

func joined(path, link string) string {
	if filepath.IsAbs(link) {
		return filepath.Clean(link)
	}
	return filepath.Join(filepath.Dir(path), link)
}

// matches are the observed paths of one pattern, in order.
func (c *linux) matches(pattern string) []string {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}
	}
	stem := pattern[:strings.IndexAny(pattern, "*[")]
	var out []string
	for path := range c.f.Paths {
		if !strings.HasPrefix(path, stem) {
			continue
		}
		if ok, err := filepath.Match(pattern, path); err == nil && ok {
			out = append(out, path)
		}
	}
	sort.Strings(out)
	return out
}

// accounts writes passwd and group with the caller, root and nobody: the host's list other people.
func (c *linux) accounts() {
	home := c.p.homeTarget()
	var passwd, group strings.Builder
	fmt.Fprintf(&passwd, "%s:x:%d:%d::%s:/bin/sh\n", c.userName(), c.f.UID, c.f.GID, home)
	if c.f.UID != 0 {
		passwd.WriteString("root:x:0:0::/nonexistent:/usr/sbin/nologin\n")
	}
	if c.f.UID != overflowID {
		fmt.Fprintf(&passwd, "nobody:x:%d:%d::/nonexistent:/usr/sbin/nologin\n", overflowID, overflowID)
	}
	fmt.Fprintf(&group, "%s:x:%d:\n", c.groupName(), c.f.GID)
	if c.f.GID != 0 {
		group.WriteString("root:x:0:\n")
	}
	if c.f.GID != overflowID {
		fmt.Fprintf(&group, "nogroup:x:%d:\n", overflowID)
	}
	c.file("/etc/passwd", passwd.String(), "the accounts that exist inside")
	c.file("/etc/group", group.String(), "the groups that exist inside")
}

// overflowID is what the kernel shows for an owner that has no number in the user namespace.
const overflowID = 65534

func (c *linux) userName() string { return accountName(c.f.User, c.f.UID, "root", "nobody", "user") }

func (c *linux) groupName() string {
	return accountName(c.f.Group, c.f.GID, "root", "nogroup", "group")
}

// accountName keeps the names root and nobody for the numbers that they stand for.
func accountName(name string, id int, root, nobody, fallback string) string {
	switch {
	case id == 0:
		return root
	case id == overflowID:
		return nobody
	case name == "" || name == root || name == nobody:
		return fallback
	}
	return name
}

// names says how hosts are looked up. Without the host's network nothing but this file answers, so look-ups fail at once.
func (c *linux) names() {
	hosts := "files"
	if c.p.Network == NetworkHost {
		hosts = "files dns"
		c.bindFile("/etc/resolv.conf", "where names are looked up")
	}
	c.file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: "+hosts+
		"\nnetworks: files\nprotocols: files\nservices: files\n", "what the name service asks")
	if c.p.Network == NetworkHost && c.entry("/etc/hosts").Kind == EntryFile {
		c.bindFile("/etc/hosts", "names of hosts")
		return
	}
	local := "localhost"
	if c.f.Hostname != "" && c.f.Hostname != local {
		local += " " + c.f.Hostname
	}
	c.file("/etc/hosts", "127.0.0.1 "+local+"\n::1 "+local+" ip6-localhost ip6-loopback\n", "names of this machine")
}

// bindFile is for what a host that changes its network rewrites in place: a copy would stay as it was.
func (c *linux) bindFile(path, why string) {
	if e := c.entry(path); e.Kind == EntryFile {
		c.add(Mount{Kind: MountReadOnly, Source: e.Resolved, Target: path, Why: why})
	}
}

func (c *linux) file(path, data, why string) {
	c.add(Mount{Kind: MountFile, Target: path, Data: []byte(data), Mode: 0o644, Why: why})
}

// kernelViews are /proc and /dev. To the kernel a sandbox of root still is the host's root: what is covered for it alone
// is closed to everyone else by its owner and mode.
func (c *linux) kernelViews() {
	covered, masked := procReadOnly, procMasked
	if c.f.UID == 0 {
		covered = append(append([]string{}, covered...), procRootOwned...)
		masked = append(append([]systemPath{}, masked...), procRootMasked...)
	}
	c.add(Mount{Kind: MountProc, Target: "/proc", Why: "processes"})
	for i, path := range covered {
		if i == 0 || c.entry(path).exists() { // /proc/sys always: where it is missing the start fails
			c.add(Mount{Kind: MountReadOnly, Source: path, Target: path, Why: "settings of the host's kernel"})
		}
	}
	for _, s := range masked {
		if c.entry(s.Pattern).exists() {
			c.add(Mount{Kind: MountMask, Source: "/dev/null", Target: s.Pattern, Why: s.Why})
		}
	}
	c.add(Mount{Kind: MountDev, Target: "/dev", Why: "devices"})
}

// hide masks what the operator named, where it would be seen. It wins over a read-only grant; in a writable folder no
// mask can stand (refuseBelowWritable), and a folder that the command cannot do without is not hidden silently.
func (c *linux) hide() {
	for _, path := range c.p.Hide {
		if !filepath.IsAbs(path) {
			c.refuse("hide", path, "", "is not an absolute path")
			continue
		}
		e := c.entry(path)
		if !c.hideable(path, e) {
			continue
		}
		c.mask(e, "hidden")
	}
}

func (c *linux) hideable(path string, e Entry) bool {
	seen := false
	for _, m := range c.plan.Mounts {
		if !m.shows() || m.Source != m.Target {
			continue // what stands at another path inside was put there by the program, not seen by its host path
		}
		switch {
		case m.Kind == MountReadWrite && within(e.Resolved, m.Target):
			c.refuse("hide", path, e.Resolved, "lies in %s, which can be written: it cannot be hidden there", quoted(m.Target))
			return false
		case c.needed(m) && within(m.Target, e.Resolved):
			c.refuse("hide", path, e.Resolved, "contains %s, which the command needs", quoted(m.Target))
			return false
		}
		seen = seen || overlap(e.Resolved, m.Target)
	}
	if seen && !e.exists() {
		c.warn("%s does not exist and so cannot be hidden: it will be seen once it does", quoted(path))
		return false
	}
	return seen
}

// needed are the mounts without which the command does not run: the working folder, interpreters, the system.
func (c *linux) needed(m Mount) bool {
	for _, g := range c.grants {
		if g.target == m.Target {
			return g.use == "folder"
		}
	}
	return true
}
