package sandbox

// write writes the profile. Later rules win over earlier ones, so what is closed stands last.
func (c *seatbelt) write() {
	s := &c.profile
	s.WriteString("(version 1)\n(deny default)\n")
	c.writeProcess(s)
	c.writeSystem(s)
	c.writeOpen(s)
	c.writeNetwork(s)
	c.writeClosed(s)
}

func (c *seatbelt) writeProcess(s *sbpl) {
	s.note("processes: its own, whatever can be read can be run")
	s.rule("allow", "process-exec process-fork")
	s.rule("allow", "signal process-info*", "(target same-sandbox)")
	if c.p.Debug {
		s.rule("allow", "mach-priv-task-port", "(target same-sandbox)")
	}
	s.rule("allow", "file-map-executable")
	s.note("facts about the machine, without its list of processes")
	s.rule("allow", "sysctl-read", append([]string{`(sysctl-name-prefix "hw.")`, `(sysctl-name-prefix "machdep.cpu.")`}, sbplEach("sysctl-name", darwinSysctls)...)...)
	s.note("services of the system")
	services := darwinServices
	if c.p.Network == NetworkHost {
		services = append(append([]string{}, services...), darwinNetworkServices...)
	}
	s.rule("allow", "mach-lookup", sbplEach("global-name", services)...)
	s.note("named semaphores and shared memory: multiprocessing, OpenMP")
	s.rule("allow", "ipc-posix-sem*")
	s.rule("allow", "ipc-posix-shm*")
}

func (c *seatbelt) writeSystem(s *sbpl) {
	s.note("devices, and terminals that it opens itself")
	s.rule("allow", "file-read* file-write*", sbplEach("literal", []string{"/dev/null", "/dev/zero"})...)
	s.rule("allow", "file-read*", append(sbplEach("literal", []string{"/dev/random", "/dev/urandom"}), `(subpath "/dev/fd")`)...)
	s.rule("allow", "pseudo-tty")
	s.rule("allow", "file-read* file-write* file-ioctl", `(literal "/dev/ptmx")`, `(require-all (regex "^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty"))`)
	s.note("the system; /System/Volumes/Data is another name of everything else")
	s.rule("allow", "file-read*", append([]string{`(literal "/")`}, sbplEach("subpath", darwinReadable)...)...)
	s.rule("deny", "file-read*", `(subpath "/System/Volumes/Data")`)
	s.rule("allow", "file-read-metadata", sbplEach("literal", []string{"/dev", "/etc", "/home", "/private", "/private/etc", "/private/var", "/private/var/db", "/tmp", "/var"})...)
	if c.p.Network == NetworkHost {
		s.rule("allow", "file-read*", sbplEach("literal", darwinNames)...)
	}
}

// writeOpen opens the policy's paths. Of the folders around them only the metadata is read: their names are not listed.
func (c *seatbelt) writeOpen(s *sbpl) {
	var ancestors, read, roots []string
	for _, r := range c.open {
		ancestors = append(ancestors, sbplAround(r.param))
		read = append(read, r.filter)
		if r.write {
			roots = append(roots, "(literal "+sbplParam(r.param)+")")
		}
	}
	for _, p := range c.params {
		if isNumbered(p.Name, "LINK") {
			ancestors = append(ancestors, sbplAround(p.Name))
			read = append(read, "(literal "+sbplParam(p.Name)+")")
		}
	}
	s.note("the folders around what is open")
	s.rule("allow", "file-read-metadata", ancestors...)
	s.note("what is read")
	s.rule("allow", "file-read*", read...)
	s.note("what is written; none of these folders can be moved away, which would take it from under the rules below")
	s.rule("allow", "file-write*", c.writable()...)
	s.rule("deny", "file-write-unlink", roots...)
}

func (c *seatbelt) writeNetwork(s *sbpl) {
	s.note("local sockets: only in its own temporary folder")
	s.rule("allow", "system-socket", "(socket-domain AF_UNIX)")
	s.rule("allow", "network-bind network-inbound", "(local unix-socket "+sbplSubpath(ParameterTemp)+")")
	s.rule("allow", "network-outbound", "(remote unix-socket "+sbplSubpath(ParameterTemp)+")")
	if c.p.Network == NetworkHost {
		s.note("the host's network")
		s.rule("allow", "system-socket", "(socket-domain AF_INET)", "(socket-domain AF_INET6)", "(socket-domain AF_ROUTE)")
		s.rule("allow", "network-outbound", "(remote ip)", `(literal "/private/var/run/mDNSResponder")`)
		s.rule("allow", "network-bind network-inbound", "(local ip)")
		return
	}
	s.note("the kernel's own ports")
	for _, port := range kernelPorts {
		s.WriteString("(if " + sbplParam(port) + " (allow network-bind network-inbound (local ip " + sbplParam(port) + ")))\n")
		c.params = append(c.params, Parameter{Name: port, AtStart: true, Optional: true, Why: "a port of the kernel on localhost, as localhost:PORT"})
	}
	if c.p.Network == NetworkAllowlist {
		s.note("the proxy: the one way out")
		s.rule("allow", "network-outbound", "(remote ip "+sbplParam(ParameterProxy)+")")
		c.params = append(c.params, Parameter{Name: ParameterProxy, AtStart: true, Why: "the proxy on localhost, as localhost:PORT; its secret is in the environment"})
	}
}

// writable are the filters of everything that is written.
func (c *seatbelt) writable() []string {
	var out []string
	for _, r := range c.open {
		if r.write {
			out = append(out, r.filter)
		}
	}
	return out
}

func (c *seatbelt) writeClosed(s *sbpl) {
	if c.p.Links == "allow" {
		s.note("new links, where it writes")
		s.rule("allow", "file-link", c.writable()...)
	} else {
		s.note("no new links and pipes, which programs outside may follow later")
		s.rule("deny", "file-link")
		s.rule("deny", "file-write-create", "(vnode-type SYMLINK)", "(vnode-type FIFO)", "(vnode-type BLOCK-DEVICE)", "(vnode-type CHARACTER-DEVICE)")
	}
	c.writeIslands(s)
	c.writeHidden(s)
}

// writeIslands keeps what programs outside act on later. A folder around one cannot be moved, or the island would move with it and be open.
func (c *seatbelt) writeIslands(s *sbpl) {
	var islands, around []string
	for _, r := range c.open {
		if r.islands {
			islands = append(islands, beneath(r.param, islandsInPlace, "(/|$)"))
		}
	}
	for _, p := range c.params {
		if isNumbered(p.Name, "ISLAND") {
			islands, around = append(islands, sbplSubpath(p.Name)), append(around, sbplAround(p.Name))
		}
	}
	if len(islands) == 0 {
		return
	}
	s.note("what programs outside act on later stays as it is")
	s.rule("deny", "file-write* file-link", islands...)
	if len(around) > 0 {
		s.rule("deny", "file-write-unlink", around...)
	}
}

// writeHidden closes paths. None of the folders around them can be moved: a rule is for a path, and what was moved has another one.
func (c *seatbelt) writeHidden(s *sbpl) {
	var paths, around []string
	for _, p := range c.params {
		if isNumbered(p.Name, "HIDDEN") {
			paths, around = append(paths, sbplSubpath(p.Name)), append(around, sbplAround(p.Name))
		}
		if p.Name == "PROJECT" {
			paths = append(paths, c.projectSecrets(p.Name))
		}
	}
	if len(paths) == 0 {
		return
	}
	s.note("hidden, and not to be had by moving a folder around it")
	s.rule("deny", "file-read* file-write* file-link file-map-executable", paths...)
	if len(around) > 0 {
		s.rule("deny", "file-write-unlink", around...)
	}
}

// projectSecrets fits what is named .env* in a project, but for the folders that are written: what is kept there is the user's own choice.
func (c *seatbelt) projectSecrets(name string) string {
	out := `(require-all (regex (string-append "^" (regex-quote ` + sbplParam(name) + `) "/([^/]+/)*` + anyCase(".env") + `[^/]*(/|$)"))`
	for _, r := range c.open {
		if r.islands {
			out += " (require-not " + r.filter + ")"
		}
	}
	return out + ")"
}
