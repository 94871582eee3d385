package sandbox

import (
	"fmt"
	"strings"
)

// say states what the container holds and what it cannot hold. That it was never run stands first.
func (c *appContainer) say() {
	p := &c.plan
	p.Enforced = []Guarantee{
		{ID: "files", Text: "of the user's files only the plan's can be opened; Windows and the installed programs can be read by every container"},
		{ID: "handles", Text: "three handles are passed, none besides"},
		{ID: "lifetime", Text: "everything inside ends with the job object, which ends with kernel-launch"},
	}
	p.Missing = []Guarantee{untried("Windows")}
	c.sayNetwork()
	p.Missing = append(p.Missing,
		Guarantee{ID: "islands-new", Text: "what does not exist at the start (.git, .venv, .vscode) can be made in a writable folder: there is nothing yet that the rights could stand on"},
		Guarantee{ID: "processes", Text: "there is no process namespace: the names of other processes can be listed"},
		Guarantee{ID: "pinned", Text: "the environment is found through its link: after an install, a running kernel no longer finds its packages"},
		Guarantee{ID: "system-calls", Text: "system calls are not filtered"},
		Guarantee{ID: "same-container", Text: "kernels of one folder and environment share a container, and so their rights and temporary files"},
	)
	p.Enforced = append(p.Enforced, Guarantee{ID: "islands", Text: "what exists of .git, .venv, venv, .vscode and .pixi directly in a writable folder cannot be changed"})
	links := Guarantee{ID: "links", Text: "junctions can be made in writable folders, and programs outside may follow them later"}
	p.Missing = append(p.Missing, links)
	c.sayLimits()
	c.warn("rights are inherited: entries on a folder are written to everything in it at each start, which takes long where it holds many files")
}

func (c *appContainer) sayLimits() {
	p := &c.plan
	if l := (Limits{Memory: c.p.Limits.Memory, Processes: c.p.Limits.Processes, CPUs: c.p.Limits.CPUs}).String(); l != "" {
		p.Enforced = append(p.Enforced, Guarantee{ID: "limits", Text: l + ", by the job object"})
	}
	p.Missing = append(p.Missing, c.unbounded(heldByJob...)...)
}

func (c *appContainer) sayNetwork() {
	p := &c.plan
	if c.p.Network == NetworkHost {
		p.Missing = append(p.Missing, Guarantee{ID: "network", Text: "the host's network is shared: every host can be reached, the local network included", Remedy: "network: allowlist"})
	} else {
		p.Enforced = append(p.Enforced, Guarantee{ID: "network", Text: "no network: the container has no capability for any"})
	}
	if c.p.Network == NetworkAllowlist {
		p.Missing = append(p.Missing, Guarantee{
			ID: "egress", Text: "the hosts of the allowlist cannot be reached: whether a listener inside a container can be reached from the same container has not been established, and the proxy would need one",
			Remedy: "network: host, which filters nothing",
		})
	}
	p.Missing = append(p.Missing, Guarantee{
		ID: "channels", Text: "a container reaches no port of this machine and none of its own is reached from outside, so Jupyter cannot talk to a kernel by TCP",
		Remedy: "a loopback exemption, which only an administrator can make and which holds for the whole machine",
	})
}

// steps say what a start does, in its order.
func (c *appContainer) steps() []string {
	a := c.a
	out := []string{
		"create the container profile " + a.Name + ", or take its identity when it exists, and go no further without it",
		c.capabilityStep(),
	}
	if len(a.Grants) > 0 {
		out = append(out, "note the entries that follow before the first is made, so that a start after a crash can take them away")
	}
	for _, g := range a.Grants {
		out = append(out, g.String())
	}
	out = append(out,
		"make the private temporary folder "+quoted(a.Temp),
		"lay out the environment as UTF-16, sorted by name without case and ended by two zeros",
		"list the attributes: "+attributeNames(a.Attributes)+", the latter with exactly three handles that are marked as inherited",
		"create a job object: "+a.Job.String(),
	)
	for _, t := range a.Trials {
		out = append(out, "run "+quoted(t)+" inside once, and refuse the start unless it ends with status 0")
	}
	return append(out,
		"create the process suspended and without a window, put it into the job, and read from its token that it is in the container; end it when any of this fails",
		"resume the process",
		"at the end close the job, which kills everything in it; the last command of the container takes the entries away and deletes the profile",
	)
}

func (c *appContainer) capabilityStep() string {
	if len(c.a.Capabilities) == 0 {
		return "give it no capability, and so no network"
	}
	return "give it the capabilities " + strings.Join(c.a.Capabilities, ", ")
}

// String says the entry as a step.
func (g ContainerGrant) String() string {
	verb := map[string]string{"RX": "let the container read", "M": "let the container read and change", "W": "keep the container from changing", "F": "keep the container out of"}[g.Rights]
	s := verb + " " + quoted(g.Path)
	if g.Inherit != "" {
		s += " and what lies in it"
	}
	if g.Optional {
		s += ", where it exists,"
	}
	return s + " until " + g.Until + ": " + g.Why
}

// String says the job's limits.
func (j Job) String() string {
	parts := []string{"everything in it is killed when its last handle is closed"}
	if j.Memory > 0 {
		parts = append(parts, fmt.Sprintf("at most %v of memory", j.Memory))
	}
	if j.ActiveProcesses > 0 {
		parts = append(parts, fmt.Sprintf("at most %d processes", j.ActiveProcesses))
	}
	if j.CPUs > 0 {
		parts = append(parts, fmt.Sprintf("at most %g CPUs", j.CPUs))
	}
	return strings.Join(parts, ", ")
}

func attributeNames(attributes []ProcessAttribute) string {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = a.Name
	}
	return strings.Join(names, " and ")
}
