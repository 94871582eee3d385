package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// confinement is what holds the limits of one command from outside: its groups. Without limits there is none, and nil does nothing.
type confinement struct {
	bounds *Bounds
	groups []member
}

// member is one group. It is made before the command, and its folder stays after the command's end until it is removed.
type member interface {
	enter(pid int) error
	folder() string
	remove() error
}

// confine makes the groups of a plan; on an error it leaves none.
func confine(ctx context.Context, b *Bounds) (*confinement, error) {
	if b == nil || len(b.Groups) == 0 {
		return nil, nil
	}
	c, name := &confinement{bounds: b}, newGroupName()
	for _, g := range b.Groups {
		m, err := makeMember(ctx, g, b, name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("limits: %v: %w", g.Tier, err), c.remove())
		}
		c.groups = append(c.groups, m)
	}
	return c, nil
}

func makeMember(ctx context.Context, g Group, b *Bounds, name groupName) (member, error) {
	if g.Tier == TierSystemd {
		return makeUnit(ctx, g, b, name)
	}
	return makeCgroup(g, b, name)
}

// enter puts a process that has no children yet into every group.
func (c *confinement) enter(pid int) error {
	if c == nil {
		return nil
	}
	for i, m := range c.groups {
		if err := m.enter(pid); err != nil {
			return fmt.Errorf("limits: %v: %w", c.bounds.Groups[i].Tier, err)
		}
	}
	return nil
}

// hit is asked when everything in the groups has ended. Memory comes first: what is killed ends, what is refused may go on.
func (c *confinement) hit() *LimitHit {
	if c == nil {
		return nil
	}
	var out *LimitHit
	for i, m := range c.groups {
		g := c.bounds.Groups[i]
		h := hitIn(g.Tier, c.bounds, g.Limits, func(file string) string { return kernelText(filepath.Join(m.folder(), file)) })
		if h != nil && (out == nil || h.Limit == "memory") {
			out = h
		}
	}
	return out
}

func (c *confinement) remove() error {
	if c == nil {
		return nil
	}
	var faults []error
	for _, m := range c.groups {
		faults = append(faults, m.remove())
	}
	return errors.Join(faults...)
}

// cgroup is a group that is made by hand, v1 or v2.
type cgroup struct{ path string }

func makeCgroup(g Group, b *Bounds, name groupName) (member, error) {
	sweep(g.Parent)
	if g.Tier == TierCgroup2 {
		if err := enable(g.Parent, g.Limits); err != nil {
			return nil, err
		}
	}
	c := cgroup{filepath.Join(g.Parent, name.String())}
	if err := os.Mkdir(c.path, 0o755); err != nil {
		return nil, err
	}
	if err := c.set(settings(g.Tier, b, g.Limits)); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

func enable(parent string, limits []string) error {
	file := filepath.Join(parent, "cgroup.subtree_control")
	if change := enabling(kernelText(file), limits); change != "" {
		return tell(file, change)
	}
	return nil
}

func (c cgroup) set(all []groupFile) error {
	for _, s := range all {
		err := tell(filepath.Join(c.path, s.file), s.value)
		if err != nil && !(s.optional && errors.Is(err, os.ErrNotExist)) {
			return fmt.Errorf("%q: %w", s.value, err)
		}
	}
	return nil
}

func (c cgroup) folder() string { return c.path }

func (c cgroup) enter(pid int) error {
	return tell(filepath.Join(c.path, "cgroup.procs"), strconv.Itoa(pid))
}

// tell writes to a file of the kernel's, which is never made: a name that is not there is a fault.
func tell(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// emptiedIn bounds how long a group may be busy after its last process was waited for: the kernel takes a moment.
const emptiedIn = 2 * time.Second

func (c cgroup) remove() error {
	end := time.Now().Add(emptiedIn)
	for {
		err := unix.Rmdir(c.path)
		switch {
		case err == nil, errors.Is(err, unix.ENOENT):
			return nil
		case !errors.Is(err, unix.EBUSY) || time.Now().After(end):
			return &os.PathError{Op: "rmdir", Path: c.path, Err: err}
		}
		<-time.After(2 * time.Millisecond)
	}
}
