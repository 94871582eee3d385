// Package config reads the operator's YAML files strictly and merges them into one policy in which nothing that was asked for is ignored.
package config

import (
	"maps"
	"slices"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Config is what holds for one working folder: every layer merged, every value checked. It is read only once Apply has been called.
type Config struct {
	Env     string // environment of the folder or profile; empty when none names one
	Sandbox Sandbox
	Egress  Egress
	Install Install
	Restart Restart
	Hooks   Hooks

	Files   []string // the files that were read, machine's first
	Folder  string   // the entry of folders: that applied, as written; empty when none did
	Profile string   // the profile that applied; empty when none was asked for

	origins map[string][]Origin
	paths   paths
	placed  map[string]int // where the pin or exception of a name stands
	ceiling *ceiling       // nil: the machine has none
	clips   []Clip
}

// Sandbox holds what a kernel sees. Paths are absolute and not resolved: package sandbox does that at each start.
type Sandbox struct {
	Backend           Backend
	Network           sandbox.Network
	Read, Write, Hide []string
	Project           bool     // the project around the notebook's folder is shown, read-only
	Links             string   // "deny" or "allow"
	Islands           []string // folders in writable grants that stay read-only, besides those known by name
	Env               Env
	GPU               string // "none", "nvidia" or "amd"
	Forward           []Forward
	Publish           []Publish
	Limits            sandbox.Limits
	Debug             bool
}

// Backend names what confines a kernel.
type Backend string

// BackendAuto is the platform's own; BackendOff confines nothing and must be asked for.
const (
	BackendAuto         Backend = "auto"
	BackendBubblewrap   Backend = "bubblewrap"
	BackendSeatbelt     Backend = "seatbelt"
	BackendAppContainer Backend = "appcontainer"
	BackendOff          Backend = "off"
)

// Env is what a kernel's environment has beyond the built-in list.
type Env struct {
	Pass []string          // names of the launcher's variables
	Set  map[string]string // variables with their values
}

// Egress holds where a kernel may connect to when the network is "allowlist".
type Egress struct {
	Groups      []string
	Allow, Deny []egress.Rule
	Inward      []egress.Inward
	Pins        []egress.Pin
	Screen      egress.Screen
	Credentials []Credential
	CloseOnDeny bool
	Log         string // "all", "denied" or "none"
	Bounds      egress.Bounds
}

// Credential is a header that the proxy adds to requests for one host. The value itself is never in here.
type Credential struct {
	Host, Header string
	From         ValueSource
}

// ValueSource says where a credential's value is read; exactly one field is set.
type ValueSource struct {
	Env, File string
	Command   []string
}

// Install holds how packages get into an environment.
type Install struct {
	Approve string        // "ask", or "never": nothing is installed, whoever approves it
	Prefer  string        // "additive" or "newest"
	Source  bool          // source packages are allowed without asking again
	MinAge  time.Duration // files younger than this are not considered
	Index   IndexURL
	UV      string // "auto", "off" or an absolute path
}

// Restart holds which verdicts restart a kernel.
type Restart struct {
	When string // "never", "required" or "recommended"
}

// Hooks are commands, already split into arguments.
type Hooks struct {
	AfterInstall, BeforeRestart, AfterRestart [][]string
}

// Origins says where the value of a key ("egress.allow") came from, oldest first; none means that it is built in.
func (c *Config) Origins(key string) []Origin { return c.origins[key] }

// Clone returns a copy that shares nothing that Apply changes, so that one configuration can serve several starts.
func (c *Config) Clone() *Config {
	n := *c
	s, e := &n.Sandbox, &n.Egress
	s.Read, s.Write, s.Hide, s.Islands = slices.Clone(s.Read), slices.Clone(s.Write), slices.Clone(s.Hide), slices.Clone(s.Islands)
	s.Forward, s.Publish = slices.Clone(s.Forward), slices.Clone(s.Publish)
	s.Env = Env{Pass: slices.Clone(s.Env.Pass), Set: maps.Clone(s.Env.Set)}
	e.Groups, e.Allow, e.Deny = slices.Clone(e.Groups), slices.Clone(e.Allow), slices.Clone(e.Deny)
	e.Inward, e.Pins, e.Credentials = slices.Clone(e.Inward), slices.Clone(e.Pins), slices.Clone(e.Credentials)
	n.clips, n.placed, n.origins = slices.Clone(c.clips), maps.Clone(c.placed), make(map[string][]Origin, len(c.origins))
	for key, from := range c.origins {
		n.origins[key] = slices.Clone(from)
	}
	return &n
}
