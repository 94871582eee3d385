package sandbox

import (
	"errors"
	"fmt"
	"strings"
)

// inPlace collects a plan for a platform without mounts: what is shown stays at its own path, and rules say who may touch it. What a grant may be is
// judged as on Linux, by names that each platform spells in its own way.
type inPlace struct {
	p      Policy
	f      Facts
	paths  spelling
	plan   Plan
	faults []error
	hidden []maskedPath
}

// spelling is how a platform writes paths, and which of them belong to its system.
type spelling struct {
	clean     func(string) (string, error) // the one form of an absolute path; the error says why it is none
	fold      func(string) string          // equal for names that the file system takes for the same
	separator string
	broad     []string // patterns with slashes and without the last one: never shown as a whole
	never     []string // such patterns: no part is shown by a grant
	system    []string // such patterns: no part is written
}

// maskedPath is a path that stays closed although a grant around it is open.
type maskedPath struct{ path, why string }

// atStart stands for the private folder that each start makes for its temporary files.
const atStart = "@temp"

func (c *inPlace) fault(err error) { c.faults = append(c.faults, err) }

func (c *inPlace) refuse(use, path, resolved, format string, args ...any) {
	c.fault(&PathError{Use: use, Path: path, Resolved: resolved, Reason: fmt.Sprintf(format, args...)})
}

func (c *inPlace) warn(format string, args ...any) {
	c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf(format, args...))
}

func (c *inPlace) show(kind MountKind, path, why string) {
	c.plan.Mounts = append(c.plan.Mounts, Mount{Kind: kind, Source: path, Target: path, Why: why})
}

// within reports whether path is root or lies below it, as the file system compares names.
func (c *inPlace) within(path, root string) bool {
	path, root = c.paths.fold(path), c.paths.fold(root)
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, c.paths.separator)+c.paths.separator)
}

func (c *inPlace) overlap(a, b string) bool { return c.within(a, b) || c.within(b, a) }

// canon is the clean form of a path that was observed; one that has none stays as it is and fits nothing.
func (c *inPlace) canon(path string) string {
	if clean, err := c.paths.clean(path); err == nil {
		return clean
	}
	return path
}

// existing checks that a path of the policy is absolute and there, and says where it really is.
func (c *inPlace) existing(use, path string) (Entry, bool) {
	if _, err := c.paths.clean(path); err != nil {
		c.refuse(use, path, "", "%v", err)
		return Entry{}, false
	}
	e := c.f.Paths[path]
	if !e.exists() {
		why := "does not exist"
		if e.Fault != "" {
			why = "cannot be looked at: " + e.Fault
		}
		c.refuse(use, path, e.Resolved, "%s", why)
		return e, false
	}
	resolved, err := c.paths.clean(e.Resolved)
	if err != nil {
		c.refuse(use, path, e.Resolved, "%v", err)
		return e, false
	}
	e.Resolved = resolved
	return e, true
}

// workingFolder is the policy's, or else a private one.
func (c *inPlace) workingFolder(private string) string {
	if c.p.Folder == "" {
		return private
	}
	return c.canon(c.f.Paths[c.p.Folder].Resolved)
}

// keptHome is where the home folder is that the policy keeps; one that does not exist yet is made by whoever starts the plan.
func (c *inPlace) keptHome() (string, bool) {
	path := c.p.KeptHome
	if path == "" {
		return "", false
	}
	if e := c.f.Paths[path]; e.Kind != EntryMissing || e.Fault != "" {
		e, ok := c.existing("kept home", path)
		return e.Resolved, ok
	}
	real, err := c.paths.clean(c.f.Paths[path].Resolved)
	if err != nil {
		c.refuse("kept home", path, "", "%v", err)
	}
	return real, err == nil
}

// finish fills in what every platform says alike, or returns all faults.
func (c *inPlace) finish(backend string) (*Plan, error) {
	if len(c.faults) > 0 {
		return nil, errors.Join(c.faults...)
	}
	p := &c.plan
	p.Backend, p.Network = backend, c.p.networkOrNone()
	for _, h := range c.hidden {
		p.Mounts = append(p.Mounts, Mount{Kind: MountMask, Target: h.path, Optional: true, Why: h.why})
	}
	return p, nil
}
