// Package sandbox turns a policy in plain values into a plan that a person can read, and runs a command behind exactly that plan.
package sandbox

import (
	"fmt"
	"strings"
)

// Places inside every Linux sandbox. They lie on its private root, never on a folder of the host.
const (
	PrivateDir   = "/run/kernel-launch/private" // a small tmpfs, mode 0700: the kernel's own connection file
	HelperTarget = "/run/kernel-launch/helper"  // Policy.Helper, read-only
	BinDir       = "/run/kernel-launch/bin"     // has Policy.Helper as kernel-launch, for PATH
	HomeTarget   = "/run/kernel-launch/home"    // default of Policy.HomeTarget
	WorkTarget   = "/run/kernel-launch/work"    // the working folder when Policy.Folder is empty
)

// What a limit of zero means for the two sizes that are always bounded.
const (
	DefaultTmp Size = 1 << 30
	DefaultShm Size = 1 << 30
)

// Policy says what a command may see and do. Its zero value is the strictest one: no network, no folder of the
// host, nothing kept. Paths are absolute and as a person wrote them; Observe resolves them.
type Policy struct {
	Network Network `json:"network"`

	Folder string   `json:"folder,omitempty"` // the working folder, read-write; empty: a private one that is thrown away
	Read   []string `json:"read,omitempty"`   // the operator's grants, read-only
	Write  []string `json:"write,omitempty"`  // the operator's grants, read-write
	Hide   []string `json:"hide,omitempty"`   // masked, also below a read-only grant

	Project bool     `json:"project,omitempty"` // show the project around Folder, read-only
	Islands []string `json:"islands,omitempty"` // folders in writable grants that stay read-only, besides those known by name

	RealHome   string `json:"realHome,omitempty"`   // covered by an empty tmpfs
	KeptHome   string `json:"keptHome,omitempty"`   // folder of the host shown read-write as HOME, made before the start; empty: a private one
	HomeTarget string `json:"homeTarget,omitempty"` // where HOME stands inside; empty: HomeTarget

	Prefixes []string `json:"prefixes,omitempty"` // interpreters and R installations, read-only at their own path
	Writable []Tree   `json:"writable,omitempty"` // the program's own folders, read-write: what an install sandbox fills
	Trees    []Tree   `json:"trees,omitempty"`    // the program's own folders, read-only, mounted last
	Helper   string   `json:"helper,omitempty"`   // a binary of the host, shown read-only at HelperTarget
	Own      []string `json:"own,omitempty"`      // folders that no grant may contain or lie in

	Environment map[string]string `json:"-"` // the whole environment of the command inside

	Limits Limits `json:"limits"`
	Links  string `json:"links,omitempty"` // "deny" (also when empty) or "allow": new links in writable grants
	GPU    string `json:"gpu,omitempty"`   // "none" (also when empty), "nvidia" or "amd"
	Debug  bool   `json:"debug,omitempty"` // gives ptrace back where a filter takes it away
}

// Tree shows a folder of the host at another path inside. Target may be a symbolic link on the host: the mount
// stands at its name and pins what Source is now.
type Tree struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// Limits bound what a command can use up. Zero is no limit, except for Tmp and Shm, which are always bounded.
type Limits struct {
	Memory     Size    `json:"memory,omitempty"`
	Processes  int     `json:"processes,omitempty"`
	CPUs       float64 `json:"cpus,omitempty"`
	Tmp        Size    `json:"tmp,omitempty"`        // zero: DefaultTmp
	Shm        Size    `json:"shm,omitempty"`        // zero: DefaultShm
	BestEffort bool    `json:"bestEffort,omitempty"` // a limit that cannot be held becomes a Missing guarantee instead of an error
}

// String says the policy as one sentence, without the environment's values.
func (p Policy) String() string {
	parts := []string{p.folderPhrase(), p.networkOrNone().String()}
	for _, g := range []struct {
		verb  string
		paths []string
	}{{"reads", p.Read}, {"writes", p.Write}, {"hides", p.Hide}, {"keeps read-only", p.Islands}} {
		if len(g.paths) > 0 {
			parts = append(parts, g.verb+" "+strings.Join(g.paths, ", "))
		}
	}
	if l := p.Limits.String(); l != "" {
		parts = append(parts, l)
	}
	return strings.Join(parts, "; ")
}

func (p Policy) folderPhrase() string {
	if p.Folder == "" {
		return "works in a private folder that is thrown away"
	}
	return "works in " + p.Folder
}

func (p Policy) networkOrNone() Network {
	if p.Network == "" {
		return NetworkNone
	}
	return p.Network
}

func (p Policy) homeTarget() string {
	if p.HomeTarget == "" {
		return HomeTarget
	}
	return p.HomeTarget
}

// String names the limits that are set, for example "at most 2GiB of memory, 64 processes"; none set is "".
func (l Limits) String() string {
	var parts []string
	if l.Memory != 0 {
		parts = append(parts, fmt.Sprintf("%v of memory", l.Memory))
	}
	if l.Processes != 0 {
		parts = append(parts, fmt.Sprintf("%d processes", l.Processes))
	}
	if l.CPUs != 0 {
		parts = append(parts, fmt.Sprintf("%g CPUs", l.CPUs))
	}
	if l.Tmp != 0 {
		parts = append(parts, fmt.Sprintf("%v in /tmp", l.Tmp))
	}
	if l.Shm != 0 {
		parts = append(parts, fmt.Sprintf("%v of shared memory", l.Shm))
	}
	if len(parts) == 0 {
		return ""
	}
	return "at most " + strings.Join(parts, ", ")
}

func (l Limits) tmp() Size {
	if l.Tmp == 0 {
		return DefaultTmp
	}
	return l.Tmp
}

func (l Limits) shm() Size {
	if l.Shm == 0 {
		return DefaultShm
	}
	return l.Shm
}
