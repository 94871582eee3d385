package sandbox

import "context"

// absentBackend stands where this version has no backend: it refuses by name and never runs anything unconfined.
type absentBackend struct{ goos, name string }

func absent(goos string) absentBackend {
	switch goos {
	case "darwin":
		return absentBackend{goos, "seatbelt"}
	case "windows":
		return absentBackend{goos, "appcontainer"}
	}
	return absentBackend{goos, "none"}
}

func (a absentBackend) Name() string { return a.name }

func (a absentBackend) Plan(Policy) (*Plan, error) { return nil, a.unavailable() }

func (a absentBackend) Probe(context.Context) error { return a.unavailable() }

func (a absentBackend) Start(context.Context, *Plan, Command) (Process, error) {
	return nil, a.unavailable()
}

func (a absentBackend) unavailable() *UnavailableError {
	return &UnavailableError{
		Backend: a.name, Cause: CauseMissing,
		Detail: "there is no sandbox for " + a.goos + " in this version",
		Remedy: "run kernel-launch on Linux, in a virtual machine or a container",
	}
}
