package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// held is a limit with what holds it here.
type held struct {
	limit
	tier   Tier   // empty: nothing does
	parent string // where its group is made
	why    string // without a tier: what each one lacks
}

// LimitTier says what would hold one limit on this machine.
type LimitTier struct {
	Limit string `json:"limit"`         // "memory", "processes" or "cpus"
	Tier  Tier   `json:"tier"`          // empty: nothing would
	Why   string `json:"why,omitempty"` // without a tier: what each one lacks
}

// LimitTiers decides what would hold each limit, were it set.
func LimitTiers(f Facts) []LimitTier {
	if f.Goos != "linux" {
		return nil
	}
	var out []LimitTier
	for _, l := range (Limits{}).limits() {
		h := holdOne(l, f)
		out = append(out, LimitTier{l.name, h.tier, h.why})
	}
	return out
}

func (f Facts) control() Control {
	if f.Control == nil {
		return Control{}
	}
	return *f.Control
}

// hold finds the strongest tier for each limit that is set.
func hold(l Limits, f Facts) []held {
	var out []held
	for _, one := range l.limits() {
		if one.value == "" || one.fault != "" {
			out = append(out, held{limit: one})
			continue
		}
		out = append(out, holdOne(one, f))
	}
	return out
}

func holdOne(l limit, f Facts) held {
	c := f.control()
	var lacks []string
	for _, try := range []func() (Tier, string, string){
		func() (Tier, string, string) { return c.unified(l.controller) },
		func() (Tier, string, string) { return c.systemd(l.controller) },
		func() (Tier, string, string) { return c.legacy(l.controller) },
		func() (Tier, string, string) { return c.rlimit(l.controller, f.UID) },
	} {
		tier, parent, lack := try()
		if lack == "" {
			return held{limit: l, tier: tier, parent: parent}
		}
		lacks = append(lacks, tier.String()+": "+lack)
	}
	return held{limit: l, why: strings.Join(lacks, "; ")}
}

// unified finds the group in which a cgroup v2 can be made.
func (c Control) unified(controller string) (tier Tier, parent, lack string) {
	if len(c.Unified) == 0 {
		return TierCgroup2, "", "is not mounted"
	}
	var lacks []string
	for _, g := range c.Unified {
		lack := g.lack(controller)
		if lack == "" {
			return TierCgroup2, g.Path, ""
		}
		lacks = append(lacks, quoted(g.Path)+" "+lack)
	}
	return TierCgroup2, "", strings.Join(lacks, ", ")
}

// lack says why a group with this controller cannot be made in g. Processes and groups with controllers cannot stand side by side, except in the root:
// the processes would have to be moved, and they are not ours. Slices are systemd's own, which may take a controller away again.
func (g Cgroup) lack(controller string) string {
	switch {
	case g.Fault != "":
		return g.Fault
	case !slices.Contains(g.Controllers, controller):
		return "has no controller " + controller
	case strings.HasSuffix(g.Path, ".slice"):
		return "belongs to systemd"
	case slices.Contains(g.Enabled, controller), g.Root, g.Processes == 0:
		return ""
	}
	return "holds processes itself"
}

func (c Control) systemd(controller string) (tier Tier, parent, lack string) {
	s := c.Systemd
	switch {
	case s.Fault != "":
		return TierSystemd, "", s.Fault
	case s.Bus == "":
		return TierSystemd, "", "there is none on D-Bus"
	case !slices.Contains(s.Controllers, controller):
		return TierSystemd, "", fmt.Sprintf("its units have no controller %s", controller)
	}
	return TierSystemd, s.Bus, ""
}

func (c Control) legacy(controller string) (tier Tier, parent, lack string) {
	g, ok := c.Legacy[controller]
	switch {
	case !ok:
		return TierCgroup1, "", "controller " + controller + " is not mounted"
	case g.Fault != "":
		return TierCgroup1, "", quoted(g.Path) + " " + g.Fault
	}
	return TierCgroup1, g.Path, ""
}

// rlimit holds memory for each process for itself. The number of processes it holds for everyone but the host's root, whom the kernel exempts; before
// Linux 5.14 it would count what the user runs elsewhere.
func (c Control) rlimit(controller string, uid int) (tier Tier, parent, lack string) {
	switch {
	case controller == "cpu":
		return TierRlimit, "", "there is none for processors"
	case controller == "pids" && uid == 0:
		return TierRlimit, "", "the kernel does not count the processes of root"
	case controller == "pids" && !c.NProc:
		return TierRlimit, "", "this kernel counts all processes of the user"
	}
	return TierRlimit, "", ""
}

// ObserveLimits says what would hold each limit for this user on this machine.
func ObserveLimits() []LimitTier {
	return LimitTiers(Facts{Goos: runtime.GOOS, UID: os.Geteuid(), Control: observeControl()})
}
