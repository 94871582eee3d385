package sandbox

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

const (
	// leastMemory is what the sandbox itself and a small interpreter need. An IPython kernel that has imported nothing takes 40 MiB.
	leastMemory = Size(32 << 20)
	// leastCPUs is the shortest share that the scheduler takes: 1 ms of every 100.
	leastCPUs = 0.01
	// most are above what any machine has, and within what a group can be told.
	mostProcesses, mostCPUs = 1 << 22, 1 << 16
	// ownTasks is how many tasks the sandbox itself may have, which count for every tier: bubblewrap is one, process 1 inside has seven to nine.
	ownTasks = 16
)

// limit is one of the limits that only a group, or the command itself, can hold.
type limit struct {
	name       string // as in the configuration
	controller string // as in a cgroup
	value      string // as in the policy; empty when there is no such limit
	fault      string // why the value makes no sense
	unbounded  string // what is missing when it is not held
}

func (l limit) key() string { return "limits." + l.name }

// limits are all three, set or not.
func (l Limits) limits() []limit {
	out := []limit{
		{name: "memory", controller: "memory", unbounded: "memory is not bounded"},
		{name: "processes", controller: "pids", unbounded: "the number of processes is not bounded"},
		{name: "cpus", controller: "cpu", unbounded: "CPU time is not bounded"},
	}
	if l.Memory != 0 {
		out[0].value, out[0].fault = l.Memory.String(), unfit(float64(l.Memory), float64(leastMemory), math.MaxInt64, leastMemory.String())
	}
	if l.Processes != 0 {
		out[1].value, out[1].fault = strconv.Itoa(l.Processes), unfit(float64(l.Processes), 1, mostProcesses, "1")
	}
	if l.CPUs != 0 {
		out[2].value, out[2].fault = strconv.FormatFloat(l.CPUs, 'g', -1, 64), unfit(l.CPUs, leastCPUs, mostCPUs, "0.01")
	}
	return out
}

func unfit(value, least, most float64, said string) string {
	switch {
	case !(value > 0): // also what is no number
		return "is not positive"
	case value < least:
		return "is less than " + said + ", with which nothing could start"
	case value > most:
		return "is more than any machine has: leave it out for no limit"
	}
	return ""
}

// bounded reports whether there is any limit that is not held by a size of a tmpfs.
func (l Limits) bounded() bool { return l.Memory != 0 || l.Processes != 0 || l.CPUs != 0 }

// limits decides how each limit is held. One that cannot be is an error unless trying is enough.
func (c *linux) limits() {
	l := c.p.Limits
	for _, size := range []struct {
		key   string
		value Size
	}{{"limits.tmp", l.Tmp}, {"limits.shm", l.Shm}} {
		if size.value < 0 {
			c.fault(&UnsupportedError{size.key, size.value.String(), "is not positive"})
		}
	}
	for _, h := range hold(l, c.f) {
		switch {
		case h.value == "":
		case h.fault != "":
			c.fault(&UnsupportedError{h.key(), h.value, h.fault})
		case h.tier == "" && !l.BestEffort:
			c.fault(&UnsupportedError{h.key(), h.value, "cannot be held here: " + h.why})
		}
	}
	if n := c.f.control().CPUs; n > 0 && l.CPUs > float64(n) {
		c.warn("limits.cpus: %g is more than this machine has (%s): it bounds nothing", l.CPUs, counted(n, "processor", "processors"))
	}
	c.plan.Bounds = bounds(l, hold(l, c.f))
}

// bounds is what a start does for the limits that are held; nil when there is nothing to do.
func bounds(l Limits, held []held) *Bounds {
	b := &Bounds{}
	for _, h := range held {
		switch h.tier {
		case "":
			continue
		case TierRlimit:
			b.Rlimits = append(b.Rlimits, rlimit(l, h.name))
		default:
			b.group(h)
			b.take(l, h.name)
		}
		if b.Tier == "" || h.tier.rank() < b.Tier.rank() {
			b.Tier = h.tier
		}
	}
	if b.Tier == "" {
		return nil
	}
	return b
}

func rlimit(l Limits, name string) Rlimit {
	if name == "memory" {
		return Rlimit{Name: "data", Value: uint64(l.Memory)}
	}
	return Rlimit{Name: "nproc", Value: uint64(l.Processes + ownTasks)}
}

func (b *Bounds) take(l Limits, name string) {
	switch name {
	case "memory":
		b.Memory = l.Memory
	case "processes":
		b.Processes = l.Processes
	case "cpus":
		b.CPUs = l.CPUs
	}
}

// group adds a limit to the group that holds it. cgroup v1 has a tree for each controller, and so a group for each.
func (b *Bounds) group(h held) {
	for i := range b.Groups {
		if g := &b.Groups[i]; g.Tier == h.tier && g.Parent == h.parent {
			g.Limits = append(g.Limits, h.name)
			return
		}
	}
	b.Groups = append(b.Groups, Group{Tier: h.tier, Parent: h.parent, Limits: []string{h.name}})
}

const limitsRemedy = "a systemd session of this user, or a cgroup that is delegated to this user"

// limitGuarantees says for each limit what holds it and how far, or what is missing.
func limitGuarantees(l Limits, f Facts) (enforced, missing []Guarantee) {
	for _, h := range hold(l, f) {
		switch {
		case h.value == "":
			missing = append(missing, Guarantee{ID: h.key(), Text: h.unbounded, Remedy: h.key()})
		case h.tier == "":
			text := fmt.Sprintf("%s, although %s is asked for: %s", h.unbounded, h.value, h.why)
			missing = append(missing, Guarantee{ID: h.key(), Text: text, Remedy: limitsRemedy})
		default:
			enforced = append(enforced, Guarantee{ID: h.key(), Text: h.promise() + " (" + h.tier.String() + ")"})
		}
	}
	return enforced, missing
}

func (h held) promise() string {
	switch {
	case h.name == "memory" && h.tier == TierRlimit:
		return "each process has at most " + h.value + " of memory of its own: several together can have more, and shared memory does not count"
	case h.name == "memory":
		return "memory is at most " + h.value + " for all processes together, with what lies in /tmp and in shared memory"
	case h.name == "processes":
		return fmt.Sprintf("there are at most %s processes and threads, besides %d for the sandbox itself", h.value, ownTasks)
	}
	return "the processes together have at most the time of " + h.value + " processors"
}

// String is what people call the tier.
func (t Tier) String() string {
	switch t {
	case TierCgroup2:
		return "cgroup v2"
	case TierCgroup1:
		return "cgroup v1"
	case TierRlimit:
		return "resource limits of single processes"
	}
	return string(t)
}

// rank is 0 for the strongest.
func (t Tier) rank() int {
	return slices.Index([]Tier{TierCgroup2, TierSystemd, TierCgroup1, TierRlimit}, t)
}
