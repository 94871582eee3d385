package sandbox

import "strconv"

// Versions of Landlock that walls need: before the first, a rename between folders cannot be allowed while anything is refused; the second brought the
// scope of abstract sockets.
const (
	landlockLinks    = 2
	landlockAbstract = 6
)

// landlock decides what the command is held to from inside, where mounts end: what it may make in folders that it may write.
func (c *linux) landlock() {
	l := &Landlock{}
	c.refuseLinks(l)
	c.scopeAbstract(l)
	if l.RefuseLinks || l.ScopeAbstract {
		c.plan.Landlock = l
	}
}

func (c *linux) refuseLinks(l *Landlock) {
	switch {
	case c.p.Links == "allow":
		c.lacking("links", "links: deny", "links, pipes and sockets can be made in writable folders, as the policy allows, and the host may follow them later")
		return
	case c.f.Landlock < landlockLinks:
		c.lacking("links", "a kernel with Landlock "+strconv.Itoa(landlockLinks)+" or newer",
			"links, pipes and sockets can be made in writable folders, and the host may follow them later: the host's kernel has %s", landlockVersion(c.f.Landlock))
		return
	}
	l.RefuseLinks, l.Links = true, c.privateFolders()
	held := true
	for _, g := range c.grants {
		for _, private := range l.Links {
			if g.write && !g.redundant && within(g.target, private) {
				held = false
				c.lacking("links", "a folder elsewhere", "links, pipes and sockets can be made in %s, and the host may follow them later: it lies below %s, where they are allowed", quoted(g.target), private)
			}
		}
	}
	if held {
		c.enforced("links", "no new link, pipe, socket or device can be made in folders of the host that can be written")
	}
}

// privateFolders are empty at the start or the command's own: nobody else follows what is made there. The cover of the real home is none of them, since
// the folders that are granted lie in it and rules reach through mounts.
func (c *linux) privateFolders() []string {
	out := []string{"/tmp", "/dev/shm", PrivateDir, c.p.homeTarget()}
	if c.p.Folder == "" {
		out = append(out, WorkTarget)
	}
	return out
}

func (c *linux) scopeAbstract(l *Landlock) {
	if c.p.Network != NetworkHost {
		return // a network of its own has abstract sockets of its own
	}
	if c.f.Landlock < landlockAbstract {
		c.lacking("abstract-sockets", "network: allowlist, or a kernel with Landlock "+strconv.Itoa(landlockAbstract)+" or newer",
			"abstract sockets of the host's programs can be reached, X11 and the session bus among them: the host's kernel has %s", landlockVersion(c.f.Landlock))
		return
	}
	l.ScopeAbstract = true
	c.enforced("abstract-sockets", "abstract sockets of the host's programs cannot be reached")
}

func landlockVersion(abi int) string {
	if abi == 0 {
		return "no Landlock"
	}
	return "Landlock " + strconv.Itoa(abi)
}
