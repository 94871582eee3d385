package sandbox

import "context"

// CauseUntried is a backend that can say its plan and has never been run: it starts nothing, since no one has seen its walls hold.
const CauseUntried = "untried"

// absentBackend stands where this version runs nothing: it plans where there is a plan to make, and never runs anything unconfined.
type absentBackend struct{ goos, name string }

func absent(goos string) absentBackend {
	switch goos {
	case "darwin":
		return absentBackend{goos, seatbeltName}
	case "windows":
		return absentBackend{goos, appContainerName}
	}
	return absentBackend{goos, "none"}
}

func (a absentBackend) Name() string { return a.name }

func (a absentBackend) Plan(p Policy) (*Plan, error) {
	if !a.plans() {
		return nil, a.unavailable()
	}
	f, err := Observe(p)
	if err != nil {
		return nil, err
	}
	f.Goos = a.goos
	return Compile(p, f)
}

func (a absentBackend) Probe(context.Context) error { return a.unavailable() }

func (a absentBackend) Start(context.Context, *Plan, Command) (Process, error) {
	return nil, a.unavailable()
}

func (a absentBackend) plans() bool { return a.name != "none" }

func (a absentBackend) unavailable() *UnavailableError {
	e := &UnavailableError{
		Backend: a.name, Cause: CauseMissing,
		Detail: "there is no sandbox for " + a.goos + " in this version",
		Remedy: "run kernel-launch on Linux, in a virtual machine or a container",
	}
	if a.plans() {
		e.Cause, e.Detail = CauseUntried, "a plan for "+a.goos+" can be made and shown, but it has not been tried on such a machine, so nothing is started behind it"
	}
	return e
}
