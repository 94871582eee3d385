package sandbox

import (
	"fmt"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// Plan is everything that a backend will do, decided. It can be printed, compared and run; making one starts nothing.
type Plan struct {
	Backend      string        `json:"backend"`
	Program      string        `json:"program,omitempty"` // the backend's program on the host; empty when none was found
	Network      Network       `json:"network"`
	Mounts       []Mount       `json:"mounts"`                 // in the order in which they are made
	Environment  []string      `json:"-"`                      // sorted K=V, for the command inside; the backend itself is started with none
	Variables    []string      `json:"environment"`            // Environment to be shown: values of what looks like a secret are left out
	Dir          string        `json:"dir"`                    // the working folder inside
	Home         string        `json:"home"`                   // HOME inside
	Filter       *Filter       `json:"filter,omitempty"`       // system calls that are refused; nil: none is
	Landlock     *Landlock     `json:"landlock,omitempty"`     // what the command is held to by Landlock; nil: nothing
	Bounds       *Bounds       `json:"bounds,omitempty"`       // how the limits are held; nil: there are none
	Seatbelt     *Seatbelt     `json:"seatbelt,omitempty"`     // the profile, on macOS
	AppContainer *AppContainer `json:"appContainer,omitempty"` // what is done, on Windows
	Enforced     []Guarantee   `json:"enforced"`
	Missing      []Guarantee   `json:"missing"`
	Warnings     []string      `json:"warnings"`
	Argv         []string      `json:"argv,omitempty"` // the backend's options; a descriptor stands as "@" and the target that it fills

	lint []lintRoot // the folders that Lint walks
}

// MountKind says what stands at a mount's target.
type MountKind string

// The kinds of mounts. A link, a file and a copy are made on the private root and need no mount of their own.
const (
	MountReadOnly  MountKind = "read-only"  // a file or folder of the host
	MountReadWrite MountKind = "read-write" // a file or folder of the host
	MountTmpfs     MountKind = "tmpfs"
	MountProc      MountKind = "proc"
	MountDev       MountKind = "dev"
	MountLink      MountKind = "link"   // Source is the text of the link
	MountFile      MountKind = "file"   // Data is its content
	MountCopy      MountKind = "copy"   // a regular file of the host as it is at the start
	MountMask      MountKind = "mask"   // a device that cannot be opened, over a file
	MountSeal      MountKind = "seal"   // what stands there becomes read-only
	MountDevice    MountKind = "device" // a device of the host, or a folder of devices, that can be used
)

// Mount is one thing that is visible inside.
type Mount struct {
	Kind     MountKind `json:"kind"`
	Source   string    `json:"source,omitempty"`
	Target   string    `json:"target"`
	Size     Size      `json:"size,omitempty"`
	Mode     uint32    `json:"mode,omitempty"`
	Optional bool      `json:"optional,omitempty"` // a copy whose source is gone or closed to us when the plan starts is left out
	Island   bool      `json:"island,omitempty"`   // a read-only folder inside a writable one: opened without following links, and checked from inside
	Pinned   bool      `json:"-"`                  // a grant, whose place others may write: opened without following links, and checked from inside
	Data     []byte    `json:"-"`
	Why      string    `json:"why"`
}

// String says the mount as a sentence.
func (m Mount) String() string {
	return m.what() + ": " + m.Why
}

func (m Mount) what() string {
	target := quoted(m.Target)
	switch m.Kind {
	case MountDevice:
		return target + " is the host's device"
	case MountReadOnly, MountReadWrite:
		if m.Island {
			return target + " stays read-only in the writable folder"
		}
		if m.Source == m.Target {
			return fmt.Sprintf("%s is the host's, %s", target, m.Kind)
		}
		return fmt.Sprintf("%s is the host's %s, %s", target, quoted(m.Source), m.Kind)
	case MountTmpfs:
		return fmt.Sprintf("%s is empty and private, at most %v, mode %04o", target, m.Size, m.Mode)
	case MountProc:
		return target + " shows the sandbox's own processes"
	case MountDev:
		return target + " has null, zero, full, random, urandom, tty and its own terminals"
	case MountLink:
		return fmt.Sprintf("%s is a link to %s", target, quoted(m.Source))
	case MountFile:
		return fmt.Sprintf("%s is written for the sandbox, %d bytes", target, len(m.Data))
	case MountCopy:
		if m.Source == m.Target {
			return target + " is a copy of the host's, read-only"
		}
		return fmt.Sprintf("%s is a copy of the host's %s, read-only", target, quoted(m.Source))
	case MountMask:
		return target + " cannot be opened"
	case MountSeal:
		return target + " becomes read-only"
	}
	return fmt.Sprintf("%s is %s", target, m.Kind)
}

// shows reports whether the mount brings something of the host into view.
func (m Mount) shows() bool {
	return m.Kind == MountReadOnly || m.Kind == MountReadWrite || m.Kind == MountCopy || m.Kind == MountDevice
}

// Guarantee is one thing that a plan holds, or does not.
type Guarantee struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"` // what would give it, for a missing one
}

func (g Guarantee) String() string {
	if g.Remedy == "" {
		return g.Text
	}
	return g.Text + " (" + g.Remedy + ")"
}

// Sentences says the whole plan as a person would, most important first. The mounts of the system are summed up.
func (p *Plan) Sentences() []string {
	if p.Seatbelt != nil || p.AppContainer != nil {
		return p.inPlaceSentences()
	}
	out := []string{
		fmt.Sprintf("The command works in %s, its home is %s.", quoted(p.Dir), quoted(p.Home)),
		"It sees " + p.Network.String() + ".",
	}
	system := 0
	for _, m := range p.Mounts {
		if isSystemMount(m) {
			system++
			continue
		}
		out = append(out, m.what()+" ("+m.Why+").")
	}
	out = append(out, fmt.Sprintf("The system is read-only: /usr and %d chosen files, folders and links.", system))
	out = append(out, sentences("Enforced: ", p.Enforced)...)
	out = append(out, sentences("Not enforced: ", p.Missing)...)
	for _, w := range p.Warnings {
		out = append(out, "Warning: "+w+".")
	}
	return out
}

func sentences(prefix string, gs []Guarantee) []string {
	out := make([]string, len(gs))
	for i, g := range gs {
		out[i] = prefix + g.String() + "."
	}
	return out
}

// quoted makes a path that someone else chose safe to print; ordinary ones stay as they are.
func quoted(s string) string {
	if p := plain.Line(s, 0); p != s || s == "" || strings.ContainsAny(s, `"`) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
