package sandbox

import "strings"

// appContainer turns one policy into the values of a start on Windows.
type appContainer struct {
	inPlace
	a AppContainer
}

// heldByJob are the limits that a job object holds.
var heldByJob = []string{"memory", "processes", "cpus"}

func compileAppContainer(p Policy, f Facts) (*Plan, error) {
	c := &appContainer{inPlace: inPlace{p: p, f: f, paths: windowsPaths}}
	c.demands("cannot be held on Windows: nothing bounds a folder there", heldByJob...)
	c.withoutTemp()
	grants := c.grants()
	c.identity()
	c.interpreters()
	c.trees()
	for _, g := range grants {
		c.openGrant(g)
	}
	c.places()
	c.close(grants)
	c.variables()
	c.say()
	c.a.Steps = c.steps()
	plan, err := c.finish(appContainerName)
	if err != nil {
		return nil, err
	}
	plan.AppContainer = &c.a
	return plan, nil
}

func (c *appContainer) identity() {
	folder := ""
	if c.p.Folder != "" {
		folder = c.f.Paths[c.p.Folder].Resolved
	}
	c.a = AppContainer{
		Name: containerName(folder, c.p), Capabilities: []string{}, Grants: []ContainerGrant{}, Trials: []string{},
		Attributes: containerAttributes, Flags: containerFlags, Job: job(c.p.Limits),
	}
	if c.p.Network == NetworkHost {
		c.a.Capabilities = []string{"internetClient", "privateNetworkClientServer"}
	}
	c.a.Temp = strings.TrimSuffix(c.known("LOCALAPPDATA"), `\`) + `\Packages\` + c.a.Name + `\AC\Temp`
}

// known is a folder that the policy's environment names, or else the machine's.
func (c *appContainer) known(name string) string {
	for _, other := range sortedKeys(c.p.Environment) {
		if foldWindows(other) == name {
			return c.p.Environment[other]
		}
	}
	return c.f.Known[name]
}

// withoutTemp takes the user's temporary folder out of the grants: what other programs leave there is theirs, and the container has one of its own.
func (c *appContainer) withoutTemp() {
	for _, list := range []*[]string{&c.p.Read, &c.p.Write} {
		var kept []string
		for _, path := range *list {
			if c.isTemp(path) {
				c.warn("%s is not shown: the command has a private folder in its place", quoted(path))
				continue
			}
			kept = append(kept, path)
		}
		*list = kept
	}
}

func (c *appContainer) isTemp(path string) bool {
	if strings.EqualFold(path, "%TEMP%") || strings.EqualFold(path, "%TMP%") {
		return true
	}
	temp, err := c.paths.clean(c.f.Known["TEMP"])
	if err != nil {
		return false
	}
	real := c.canon(path)
	if e := c.f.Paths[path]; e.Resolved != "" {
		real = c.canon(e.Resolved)
	}
	return c.paths.fold(real) == c.paths.fold(temp)
}

// interpreters are granted where the container cannot read them anyway, and each is tried before the command runs.
func (c *appContainer) interpreters() {
	for _, path := range c.p.Prefixes {
		if c.inAny(c.canon(path), windowsAliases) {
			c.refuse("interpreter", path, "", "is an execution alias of the Store, which no container can run: name the program itself")
			continue
		}
		e, ok := c.existing("interpreter", path)
		switch open := c.inAny(e.Resolved, windowsOpen); {
		case !ok:
		case c.inAny(e.Resolved, windowsAliases):
			c.refuse("interpreter", path, e.Resolved, "is an execution alias of the Store, which no container can run: name the program itself")
		case !open && (c.holdsHome(e.Resolved) || c.isAny(e.Resolved, c.paths.broad)):
			c.fault(&PathError{Use: "interpreter", Path: path, Resolved: e.Resolved, Reason: "is installed in a folder too broad to be shown", Broad: true})
		case open:
			c.show(MountReadOnly, e.Resolved, "an interpreter, which every container can read")
			c.a.Trials = append(c.a.Trials, e.Resolved)
		default:
			c.give(e.Resolved, "RX", e.Kind == EntryFile, "an interpreter and its libraries")
			c.a.Trials = append(c.a.Trials, e.Resolved)
		}
	}
}

// trees are the program's own folders. Without mounts a tree stands where it is, and its target has to be a link to it, which is granted as well.
func (c *appContainer) trees() {
	open := func(t Tree, rights string) {
		e, ok := c.existing("tree", t.Source)
		if !ok {
			return
		}
		target, err := c.paths.clean(t.Target)
		switch same := c.paths.fold(target) == c.paths.fold(e.Resolved); {
		case err != nil:
			c.refuse("tree target", t.Target, "", "%v", err)
		case !same && rights == "M":
			c.refuse("tree target", t.Target, "", "is another path than %s: without mounts a folder that is written cannot stand elsewhere", quoted(e.Resolved))
		case !same:
			c.give(e.Resolved, rights, false, "the program's own folder")
			c.give(target, rights, true, "the name under which it is found, a link")
		default:
			c.give(e.Resolved, rights, false, "the program's own folder")
		}
	}
	for _, t := range c.p.Writable {
		open(t, "M")
	}
	for _, t := range c.p.Trees {
		open(t, "RX")
	}
}

func (c *appContainer) openGrant(g granted) {
	rights, why := "RX", "granted for reading"
	switch {
	case g.use == "folder":
		rights, why = "M", "the working folder"
	case g.use == "project":
		why = "the project around the folder"
	case g.write:
		rights, why = "M", "granted for writing"
	}
	c.give(g.real, rights, g.file, why)
}
