package sandbox

import "fmt"

// PathError is a path of the policy that cannot be shown as asked.
type PathError struct {
	Use      string // which part of the policy names it: "folder", "read", "write", …
	Path     string // as it was given
	Resolved string // without symbolic links; empty when it could not be resolved
	Reason   string
	Broad    bool // it holds more than a command may be shown at all: a home, a part of the system
}

func (e *PathError) Error() string {
	if e.Resolved == "" || e.Resolved == e.Path {
		return fmt.Sprintf("%s %s %s", e.Use, quoted(e.Path), e.Reason)
	}
	return fmt.Sprintf("%s %s (which is %s) %s", e.Use, quoted(e.Path), quoted(e.Resolved), e.Reason)
}

// UnsupportedError is a demand of the policy that this backend cannot hold.
type UnsupportedError struct {
	Key    string // as in the configuration: "limits.memory", "gpu", …
	Value  string
	Reason string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: %s %s", e.Key, quoted(e.Value), e.Reason)
}

// EnvironmentError is a variable that no process can be given.
type EnvironmentError struct{ Name, Reason string }

func (e *EnvironmentError) Error() string {
	return fmt.Sprintf("environment variable %q %s", e.Name, e.Reason)
}

// Causes of an UnavailableError.
const (
	CauseMissing       = "missing"        // the backend's program is not there, or this version has no such backend
	CauseTooOld        = "too-old"        // it lacks an option that the plan needs
	CauseUsernsRefused = "userns-refused" // the system refuses user namespaces to this user
	CauseNested        = "nested"         // a container around us forbids the mounts
	CauseChanged       = "changed"        // a folder was exchanged while the sandbox was built
	CauseNoSeccomp     = "no-seccomp"     // the system's kernel cannot filter system calls
	CauseUnknown       = "unknown"
)

// UnavailableError says why a backend cannot run anything on this machine, and what would change that.
type UnavailableError struct {
	Backend string
	Cause   string // one of the Cause words
	Detail  string // what was seen, on one line
	Remedy  string // the narrowest thing to do
	Err     error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("sandbox backend %s is unavailable (%s): %s", e.Backend, e.Cause, e.Detail)
}

func (e *UnavailableError) Unwrap() error { return e.Err }
