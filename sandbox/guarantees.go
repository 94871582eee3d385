package sandbox

import (
	"fmt"
	"strconv"
)

// guarantees says what the plan holds and what it does not. It claims nothing that the options do not enforce.
func guarantees(p Policy, f Facts) (enforced, missing []Guarantee) {
	enforced = []Guarantee{
		{ID: "files", Text: "only the files and folders of the plan exist; everything else of the host does not"},
		{ID: "processes", Text: "the host's other processes can neither be seen nor signalled"},
		{ID: "capabilities", Text: "no capability, no way to gain one, no further user namespaces"},
		{ID: "kernel-settings", Text: "the settings of the host's kernel cannot be opened for writing"},
		{ID: "environment", Text: fmt.Sprintf("%s passed, none besides", counted(len(p.Environment), "environment variable is", "environment variables are"))},
		{ID: "terminal", Text: "the caller's terminal is out of reach"},
		{ID: "scratch", Text: fmt.Sprintf("/tmp holds at most %v, shared memory at most %v", p.Limits.tmp(), p.Limits.shm())},
		{ID: "lifetime", Text: "everything inside ends with process 1 inside, which ends with the sandbox program"},
	}
	if p.Network == NetworkHost {
		missing = append(missing, Guarantee{
			ID: "network", Text: "the host's network is shared: every host and every local port can be reached",
			Remedy: "network: allowlist",
		})
	} else {
		enforced = append(enforced, Guarantee{ID: "network", Text: "a network of its own with nothing but loopback: the host's ports and abstract sockets do not exist"})
	}
	bounded, unbounded := limitGuarantees(p.Limits, f)
	enforced, missing = append(enforced, bounded...), append(missing, unbounded...)
	missing = append(missing, Guarantee{ID: "disk", Text: "what is written to shown folders is not bounded"})
	if f.UID == 0 {
		missing = append(missing, Guarantee{ID: "root", Text: "inside is the host's root without its capabilities: what root owns in shown folders can be changed", Remedy: "run as an ordinary user"})
	}
	return enforced, missing
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
