package sandbox

import "fmt"

// say states what the profile holds and what it cannot hold. That it was never run stands first: whatever else is listed is what the rules say.
func (c *seatbelt) say() {
	p := &c.plan
	p.Enforced = []Guarantee{
		{ID: "files", Text: "only the plan's files and folders and the system's own can be opened; of the folders around them only the metadata is seen"},
		{ID: "signals", Text: "processes outside cannot be signalled, inspected or listed"},
		{ID: "terminal", Text: "the caller's terminal cannot be opened"},
		{ID: "environment", Text: fmt.Sprintf("%s passed, none besides", counted(len(c.p.Environment), "environment variable is", "environment variables are"))},
		{ID: "sockets", Text: "local sockets can be made and reached only in the command's own temporary folder"},
	}
	p.Missing = []Guarantee{untried("macOS")}
	c.sayNetwork()
	if c.p.Links != "allow" {
		p.Enforced = append(p.Enforced, Guarantee{ID: "links", Text: "no new link or pipe can be made, in no folder"})
	} else {
		p.Missing = append(p.Missing, Guarantee{ID: "links", Text: "links can be made in writable folders, and programs outside may follow them later", Remedy: "links: deny"})
	}
	p.Enforced = append(p.Enforced, Guarantee{ID: "islands", Text: "what programs outside act on later (.git, .venv, venv, .vscode, .pixi) can neither be made nor changed directly in a writable folder"})
	p.Missing = append(p.Missing,
		Guarantee{ID: "processes", Text: "there is no process namespace: what the command leaves behind is ended by its process group, and what left the group stays"},
		Guarantee{ID: "lifetime", Text: "the command does not end by itself when kernel-launch is killed"},
		Guarantee{ID: "ipc", Text: "names of semaphores and shared memory are those of the whole machine: another program's can be opened"},
		Guarantee{ID: "pinned", Text: "the environment is found through its link: after an install, a running kernel no longer finds its packages"},
		Guarantee{ID: "system-calls", Text: "system calls are filtered by what they act on, not by their number"},
	)
	p.Missing = append(p.Missing, c.unbounded()...)
	if c.f.UID == 0 {
		p.Missing = append(p.Missing, Guarantee{ID: "root", Text: "inside is the host's root: what root owns in shown folders can be changed", Remedy: "run as an ordinary user"})
	}
}

// untried is what can be said of every plan for a platform on which none was ever run.
func untried(platform string) Guarantee {
	return Guarantee{ID: "tried", Text: "this plan has not been run on " + platform + ": no test has shown that what it says is held", Remedy: "run kernel-launch on Linux"}
}

func (c *seatbelt) sayNetwork() {
	p := &c.plan
	if c.p.Network == NetworkHost {
		p.Missing = append(p.Missing, Guarantee{ID: "network", Text: "the host's network is shared: every host and every local port can be reached", Remedy: "network: allowlist"})
		return
	}
	out := "no other host and no port can be reached"
	if c.p.Network == NetworkAllowlist {
		out = "no other host can be reached but through the proxy, which asks for a secret that only this command has"
		c.warn("programs that check certificates by the system's trust service, as Go's and the system's curl do, fail: that service reaches the network by itself")
	}
	p.Enforced = append(p.Enforced, Guarantee{ID: "network", Text: out})
	p.Missing = append(p.Missing, Guarantee{
		ID: "loopback", Text: "loopback is the host's: other users of this machine can connect to the kernel's ports, and a program that takes the proxy's port when it is free can be reached",
	})
	c.warn("only the kernel's own ports can be listened on: what opens another one on localhost, as dask does, fails")
}
