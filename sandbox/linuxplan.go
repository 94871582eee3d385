package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
)

const (
	bubblewrapName = "bubblewrap"
	manyMounts     = 64 // the cost of a start grows faster than the number of mounts
	privateSize    = Size(1 << 20)
	coverSize      = Size(64 << 20) // the empty folder over the real home: programs that ignore HOME write little
	maskSize       = Size(64 << 10)
)

// linux collects one plan. Its methods run in the order in which the mounts are made, which is part of the security:
// the covering tmpfs first, what the operator grants after it, the program's own trees last.
type linux struct {
	p      Policy
	f      Facts
	plan   Plan
	faults []error
	grants []grant
	alias  []Mount

	islands []island
	loose   []string // what stands under an island's name and is none, as a clause
	covers  []Mount  // the seals of masked folders

	held, missed []Guarantee
}

func compileLinux(p Policy, f Facts) (*Plan, error) {
	c := &linux{p: p, f: f}
	c.demands()
	c.findIslands()
	c.grants = c.checkGrants()
	c.system()
	c.kernelViews()
	c.scratch()
	c.prefixes()
	c.ours()
	c.showGPU()
	c.showGrants()
	c.showIslands()
	trees := c.trees()
	c.links()
	c.hide()
	c.maskSensitive()
	c.maskProject()
	c.maskOwn()
	c.plan.Mounts = append(append(c.plan.Mounts, trees...), c.covers...)
	c.unpinCovered()
	c.seal()
	c.refuseBelowWritable()
	c.refuseUnspeakable()
	c.walls()
	if len(c.faults) > 0 {
		return nil, errors.Join(c.faults...)
	}
	return c.finish(), nil
}

func (c *linux) finish() *Plan {
	p := &c.plan
	p.Backend, p.Program, p.Network = bubblewrapName, c.f.Bubblewrap, c.p.networkOrNone()
	p.Dir, p.Home = WorkTarget, c.p.homeTarget()
	if c.p.Folder != "" {
		p.Dir = c.entry(c.p.Folder).Resolved
	}
	p.Environment, p.Variables = environment(c.p.Environment)
	p.Enforced, p.Missing = guarantees(c.p, c.f)
	p.Enforced, p.Missing = append(p.Enforced, c.held...), append(p.Missing, c.missed...)
	p.lint = c.lintRoots()
	if n := countMounts(p.Mounts); n > manyMounts {
		c.warn("%d mounts make every start slower: at most %d are advised", n, manyMounts)
	}
	p.Argv = arguments(p, func(m Mount) string { return "@" + m.Target })
	return p
}

func (c *linux) add(m Mount)             { c.plan.Mounts = append(c.plan.Mounts, m) }
func (c *linux) fault(err error)         { c.faults = append(c.faults, err) }
func (c *linux) entry(path string) Entry { return c.f.Paths[path] }
func (c *linux) warn(format string, args ...any) {
	c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf(format, args...))
}

func (c *linux) enforced(id, format string, args ...any) {
	c.held = append(c.held, Guarantee{ID: id, Text: fmt.Sprintf(format, args...)})
}

func (c *linux) lacking(id, remedy, format string, args ...any) {
	c.missed = append(c.missed, Guarantee{ID: id, Text: fmt.Sprintf(format, args...), Remedy: remedy})
}

func (c *linux) refuse(use, path, resolved, format string, args ...any) {
	c.fault(&PathError{Use: use, Path: path, Resolved: resolved, Reason: fmt.Sprintf(format, args...)})
}

func (c *linux) broad(use, path, resolved, reason string) {
	c.fault(&PathError{Use: use, Path: path, Resolved: resolved, Reason: reason, Broad: true})
}

// existing checks that a path of the policy is absolute and there, and returns what stands at it.
func (c *linux) existing(use, path string) (Entry, bool) {
	if !filepath.IsAbs(path) {
		c.refuse(use, path, "", "is not an absolute path")
		return Entry{}, false
	}
	e := c.entry(path)
	if !e.exists() {
		why := "does not exist"
		if e.Fault != "" {
			why = "cannot be looked at: " + e.Fault
		}
		c.refuse(use, path, e.Resolved, "%s", why)
		return e, false
	}
	return e, true
}

// folder is existing for what must be a folder.
func (c *linux) folder(use, path string) (Entry, bool) {
	e, ok := c.existing(use, path)
	if ok && e.Kind != EntryFolder {
		c.refuse(use, path, e.Resolved, "is not a folder")
		return e, false
	}
	return e, ok
}
