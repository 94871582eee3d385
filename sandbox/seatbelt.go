package sandbox

import (
	"errors"
	"path"
	"strings"
)

const (
	seatbeltName    = "seatbelt"
	seatbeltProgram = "/usr/bin/sandbox-exec" // by its absolute path: a folder on PATH could hold another one
)

// Seatbelt is a plan's part for macOS: a profile for sandbox-exec. The profile holds no path of the policy, so its text is the same for every policy of
// the same shape and nothing in a path can be read as a rule; the paths are parameters. Neither holds a secret: both can be read in the process list.
type Seatbelt struct {
	Profile    string      `json:"profile"`
	Parameters []Parameter `json:"parameters"`
}

// Parameter is one value of a profile. One that is AtStart gets its value when the command is started.
type Parameter struct {
	Name     string `json:"name"`
	Value    string `json:"value,omitempty"`
	AtStart  bool   `json:"atStart,omitempty"`
	Optional bool   `json:"optional,omitempty"` // may be left out: what it opens then stays closed
	Why      string `json:"why"`
}

// Names of the parameters that a start gives.
const (
	ParameterTemp  = "TEMP"  // the private folder of this command, made with mode 0700, without symbolic links
	ParameterProxy = "PROXY" // "localhost:PORT" of the egress proxy
)

// kernelPorts are the parameters of a kernel's five channels, each "localhost:PORT".
var kernelPorts = []string{"PORT_SHELL", "PORT_IOPUB", "PORT_STDIN", "PORT_CONTROL", "PORT_HEARTBEAT"}

// seatbelt turns one policy into a profile.
type seatbelt struct {
	inPlace
	profile sbpl
	params  []Parameter
	open    []sbplRule // paths that are read, or read and written
}

// sbplRule is a path of the policy in the profile.
type sbplRule struct {
	filter  string // as it stands in the profile
	param   string
	real    string
	write   bool
	islands bool // other programs act on what lies in it
}

func compileSeatbelt(p Policy, f Facts) (*Plan, error) {
	c := &seatbelt{inPlace: inPlace{p: p, f: f, paths: darwinPaths}}
	c.demands("cannot be held on macOS: it has no limit for a group of processes")
	grants := c.grants()
	c.program()
	for _, g := range grants {
		c.openGrant(g)
	}
	c.places()
	c.islands()
	c.hide()
	c.write()
	c.say()
	plan, err := c.finish(seatbeltName)
	if err != nil {
		return nil, err
	}
	plan.Program = seatbeltProgram
	plan.Seatbelt = &Seatbelt{Profile: c.profile.String(), Parameters: c.params}
	return plan, nil
}

// darwinPaths compares names without case, as the file system does unless it was made otherwise.
var darwinPaths = spelling{
	clean: cleanDarwin, fold: strings.ToLower, separator: "/",
	broad: darwinBroad, never: darwinNever, system: darwinSystem,
}

var (
	errRelative = errors.New("is not an absolute path")
	errZeroByte = errors.New("holds a zero byte")
)

// cleanDarwin gives the form in which the system's kernel names a path: rules for another form never fit.
func cleanDarwin(name string) (string, error) {
	switch {
	case !strings.HasPrefix(name, "/"):
		return "", errRelative
	case strings.Contains(name, "\x00"):
		return "", errZeroByte
	}
	name = path.Clean(name)
	if rest, ok := strings.CutPrefix(name, "/System/Volumes/Data/"); ok {
		name = "/" + rest
	}
	for _, link := range []string{"/tmp", "/var", "/etc"} {
		if within(name, link) {
			return "/private" + name, nil
		}
	}
	return name, nil
}

// program opens the interpreters and the program's own folders. A tree cannot stand at another path here: its target has to be a link to it.
func (c *seatbelt) program() {
	for _, prefix := range c.p.Prefixes {
		if e, ok := c.existing("interpreter", prefix); ok && !c.inAny(e.Resolved, darwinReadable) {
			if c.holdsHome(e.Resolved) || c.isAny(e.Resolved, c.paths.broad) {
				c.fault(&PathError{Use: "interpreter", Path: prefix, Resolved: e.Resolved, Reason: "is installed in a folder too broad to be shown", Broad: true})
				continue
			}
			c.allow("INTERPRETER", e.Resolved, "an interpreter and its libraries", false)
			c.alias(prefix, e.Resolved)
		}
	}
	for _, t := range c.p.Writable {
		c.tree(t, true)
	}
	for _, t := range c.p.Trees {
		c.tree(t, false)
	}
}

func (c *seatbelt) tree(t Tree, write bool) {
	e, ok := c.existing("tree", t.Source)
	if !ok {
		return
	}
	target, err := c.paths.clean(t.Target)
	switch {
	case err != nil:
		c.refuse("tree target", t.Target, "", "%v", err)
		return
	case target != e.Resolved && write:
		c.refuse("tree target", t.Target, "", "is another path than %s: without mounts a folder that is written cannot stand elsewhere", quoted(e.Resolved))
		return
	}
	c.allow("TREE", e.Resolved, "the program's own folder", write)
	c.alias(target, e.Resolved)
}

func (c *seatbelt) openGrant(g granted) {
	name, why := "READ", "granted for reading"
	switch {
	case g.use == "folder":
		name, why = "FOLDER", "the working folder"
	case g.use == "project":
		name, why = "PROJECT", "the project around the folder"
	case g.write:
		name, why = "WRITE", "granted for writing"
	}
	c.allow(name, g.real, why, g.write)
	c.open[len(c.open)-1].islands = g.write
	c.alias(g.path, g.real)
}

// places are the home folder, the temporary one and the working one, where the policy names none.
func (c *seatbelt) places() {
	c.params = append(c.params, Parameter{Name: ParameterTemp, AtStart: true, Why: "the command's own temporary files: TMPDIR"})
	c.open = append(c.open, sbplRule{param: ParameterTemp, filter: sbplSubpath(ParameterTemp), write: true})
	c.plan.Dir, c.plan.Home = c.workingFolder(atStart+"/work"), atStart+"/home"
	if home, ok := c.keptHome(); ok {
		c.plan.Home = home
		c.allow("HOME", home, "the home folder, kept for this environment and folder", true)
	}
	vars := movedHome(c.p.Environment, c.p.homeTarget(), c.plan.Home, c.paths.separator)
	for _, name := range sortedKeys(vars) {
		if why := badVariable(name, vars[name]); why != "" {
			c.fault(&EnvironmentError{Name: name, Reason: why})
		}
	}
	c.plan.Environment, c.plan.Variables = environment(vars)
}

// alias lets the name be followed under which a path was given, when it leads there by a link.
func (c *seatbelt) alias(name, real string) {
	if name = c.canon(name); name != real {
		c.params = append(c.params, Parameter{Name: numbered("LINK", c.params), Value: name, Why: "a name under which it is found, by a link"})
	}
}

// allow opens a path. Equal names of parameters are counted.
func (c *seatbelt) allow(name, real, why string, write bool) {
	if name != "FOLDER" && name != "HOME" && name != "PROJECT" {
		name = numbered(name, c.params)
	}
	kind := MountReadOnly
	if write {
		kind = MountReadWrite
	}
	c.show(kind, real, why)
	c.params = append(c.params, Parameter{Name: name, Value: real, Why: why})
	c.open = append(c.open, sbplRule{param: name, filter: sbplSubpath(name), real: real, write: write})
}
