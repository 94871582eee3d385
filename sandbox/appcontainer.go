package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const appContainerName = "appcontainer"

// AppContainer is a plan's part for Windows: everything that a start does, in values. Numbers are those of the Windows API.
type AppContainer struct {
	Name         string             `json:"name"` // of the container's profile: the same for a folder and an environment, another one for any other folder
	Capabilities []string           `json:"capabilities"`
	Grants       []ContainerGrant   `json:"grants"` // in the order in which they are made
	Temp         string             `json:"temp"`   // the container's own temporary folder, of which Windows lets no other container read anything
	Trials       []string           `json:"trials"` // interpreters that are run inside once before the command: that a file is there does not prove that the container may run it
	Attributes   []ProcessAttribute `json:"attributes"`
	Flags        uint32             `json:"flags"` // of CreateProcess
	Job          Job                `json:"job"`
	Steps        []string           `json:"steps"`
}

// ContainerGrant is one entry in the access list of a path, for the container alone.
type ContainerGrant struct {
	Path     string `json:"path"`
	Rights   string `json:"rights"`             // as icacls writes them: "RX", "M", "W", "F"
	Deny     bool   `json:"deny,omitempty"`     // takes the rights away instead; it stands before every entry that gives
	Inherit  string `json:"inherit,omitempty"`  // "(OI)(CI)" for a folder
	Mask     uint32 `json:"mask"`               // the rights as a number
	Optional bool   `json:"optional,omitempty"` // made where the path exists at the start
	Until    string `json:"until"`              // what takes the entry away again
	Why      string `json:"why"`
}

// ProcessAttribute is one attribute of the list that CreateProcess takes.
type ProcessAttribute struct {
	ID      uint32 `json:"id"`
	Name    string `json:"name"`
	Content string `json:"content"`
}

// Job is what holds the command's processes together and bounds them.
type Job struct {
	LimitFlags      uint32  `json:"limitFlags"`
	Memory          Size    `json:"memory,omitempty"`    // of all processes together
	ActiveProcesses uint32  `json:"processes,omitempty"` // at once
	CPUs            float64 `json:"cpus,omitempty"`      // as a hard cap, see CPURate
	UILimits        uint32  `json:"uiLimits"`            // none: PowerShell breaks under them
}

// CPURate is the hard cap of a job in hundredths of a percent of the whole machine, which has so many processors.
func (j Job) CPURate(processors int) uint32 {
	const all = 10000
	rate := j.CPUs / float64(max(processors, 1)) * all
	return uint32(min(max(rate, 1), all))
}

// Numbers of the Windows API.
const (
	rightsRX   = 0x001200a9 // FILE_GENERIC_READ | FILE_GENERIC_EXECUTE
	rightsM    = 0x001301bf // and FILE_GENERIC_WRITE | DELETE
	rightsW    = 0x000d0156 // data, attributes, deletion, rights and owner
	rightsFull = 0x001f01ff // FILE_ALL_ACCESS

	jobActiveProcess = 0x00000008
	jobDieOnFault    = 0x00000400
	jobMemory        = 0x00000200
	jobKillOnClose   = 0x00002000

	// EXTENDED_STARTUPINFO_PRESENT | CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | CREATE_NO_WINDOW
	containerFlags = 0x00080000 | 0x00000004 | 0x00000400 | 0x08000000
)

var containerAttributes = []ProcessAttribute{
	{0x00020009, "PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES", "the container and its capabilities"},
	{0x00020002, "PROC_THREAD_ATTRIBUTE_HANDLE_LIST", "three handles: standard input, output and error"},
}

// containerName fits Windows' rule for such names: at most 64 letters, digits, dots, dashes, underscores and spaces. It does not change when packages are
// installed: a tree counts by the name under which it is found.
func containerName(folder string, p Policy) string {
	parts := []string{folder, p.KeptHome}
	for _, t := range p.Trees {
		parts = append(parts, t.Target)
	}
	for i, s := range parts {
		if clean, err := cleanWindows(s); err == nil {
			s = clean
		}
		parts[i] = foldWindows(s)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "kernel-launch." + hex.EncodeToString(sum[:])[:16]
}

// job bounds what the policy asks to be bounded. Closing its last handle kills everything in it, and nothing may leave it.
func job(l Limits) Job {
	j := Job{LimitFlags: jobKillOnClose | jobDieOnFault, CPUs: l.CPUs}
	if l.Memory > 0 {
		j.LimitFlags |= jobMemory
		j.Memory = l.Memory
	}
	if l.Processes > 0 {
		j.LimitFlags |= jobActiveProcess
		j.ActiveProcesses = uint32(min(l.Processes, 1<<31-1))
	}
	return j
}
