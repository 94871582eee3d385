package sandbox

import (
	"os"
	"strconv"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// Machine is what decides between causes that look alike in bubblewrap's text.
type Machine struct {
	AppArmorRestricts bool // kernel.apparmor_restrict_unprivileged_userns is on
	CloneOff          bool // kernel.unprivileged_userns_clone is 0
	NoNamespaces      bool // user.max_user_namespaces is 0
	Container         bool // the signs of Docker, Podman or Kubernetes are there
}

// ObserveMachine reads the few settings that Classify asks for. What cannot be read counts as absent.
func ObserveMachine() Machine {
	return Machine{
		AppArmorRestricts: setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1",
		CloneOff:          setting("/proc/sys/kernel/unprivileged_userns_clone") == "0",
		NoNamespaces:      setting("/proc/sys/user/max_user_namespaces") == "0",
		Container:         present("/.dockerenv") || present("/run/.containerenv") || os.Getenv("KUBERNETES_SERVICE_HOST") != "",
	}
}

func setting(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Oldest is the first bubblewrap that has every option of a plan (--size came with 0.7, --disable-userns with 0.8).
const Oldest = "0.8.0"

// symptom is a text of bubblewrap's that tells a cause.
type symptom struct{ text, cause string }

// symptoms are tried in order. The texts are those of bubblewrap 0.3 to 0.11.
var symptoms = []symptom{
	{"Unknown option", CauseTooOld},
	{"PR_SET_SECCOMP", CauseNoSeccomp},
	{"system call filter", CauseNoSeccomp},
	{"setting up uid map", CauseUsernsRefused},
	{"RTM_NEWADDR", CauseUsernsRefused},
	{"RTM_NEWLINK", CauseUsernsRefused},
	{"Creating new namespace failed", CauseUsernsRefused},
	{"No permissions to creat", CauseUsernsRefused},
	{"unshare user ns", CauseUsernsRefused},
	{"Can't mount proc", CauseNested},
	{"Can't mount devpts", CauseNested},
	{"Failed to make / slave", CauseNested},
	{"Failed to mount tmpfs", CauseNested},
	{"pivot_root", CauseNested},
	{"max_user_namespaces", CauseNested},
	{"Unable to remount", CauseNested},
	{"Race condition binding", CauseChanged},
}

// Classify says why bubblewrap could not build a sandbox, from what it wrote to standard error. version is what
// "bwrap --version" printed, or "" when it was not asked. It returns nil for a text that is not bubblewrap's own, and for
// a command that is not there inside: then the walls stood.
func Classify(stderr, version string, m Machine) *UnavailableError {
	line := complaint(stderr)
	if line == "" && !older(version, Oldest) || aboutThePlan(line) {
		return nil
	}
	e := &UnavailableError{Backend: bubblewrapName, Cause: causeOf(line, version), Detail: line}
	switch e.Cause {
	case CauseTooOld:
		e.Detail, e.Remedy = "bubblewrap "+orUnknown(version)+" is older than "+Oldest, "install bubblewrap "+Oldest+" or newer"
	case CauseUsernsRefused:
		e.Detail, e.Remedy = usernsDetail(line, m)
	case CauseNoSeccomp:
		e.Detail, e.Remedy = "system calls cannot be filtered ("+line+")", "use a kernel that was built with CONFIG_SECCOMP_FILTER"
	case CauseNested:
		e.Detail, e.Remedy = nested(line, m)
	case CauseChanged:
		e.Remedy = "start again: a folder was exchanged while the sandbox was built"
	default:
		e.Remedy = "report this line with the output of bwrap --version"
	}
	return e
}

// aboutThePlan is true for what is no fault of the backend: a program or a folder that cannot be had, or went away while the sandbox was built.
func aboutThePlan(line string) bool {
	for _, text := range []string{"execvp ", "Can't chdir to ", "Can't get type of source ", "Can't find source path "} {
		if strings.HasPrefix(line, text) {
			return true
		}
	}
	return false
}

func causeOf(line, version string) string {
	if older(version, Oldest) {
		return CauseTooOld
	}
	for _, s := range symptoms {
		if strings.Contains(line, s.text) {
			return s.cause
		}
	}
	return CauseUnknown
}

// complaint is the last line that bubblewrap wrote about itself.
func complaint(stderr string) string {
	out := ""
	for _, line := range strings.Split(stderr, "\n") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "bwrap: "); ok {
			out = plain.Line(text, 400)
		}
	}
	return out
}

func usernsDetail(line string, m Machine) (detail, remedy string) {
	const refused = "user namespaces are refused"
	switch {
	case m.NoNamespaces:
		return refused + " to everyone: user.max_user_namespaces is 0 (" + line + ")", "set user.max_user_namespaces to 1000 or more with sysctl"
	case m.CloneOff:
		return refused + " to ordinary users: kernel.unprivileged_userns_clone is 0 (" + line + ")", "set kernel.unprivileged_userns_clone to 1 with sysctl"
	case m.AppArmorRestricts:
		return "AppArmor refuses user namespaces to programs without a profile (" + line + ")", "install a profile for bwrap that allows userns (on Ubuntu in the package apparmor-profiles), which frees bwrap alone"
	case m.Container:
		return refused + " by the container around this process (" + line + ")", "let the container make user namespaces: docker run --security-opt seccomp=unconfined, or a profile that allows clone and unshare"
	case strings.Contains(line, "ENOSPC") || strings.Contains(line, "No space left"):
		return refused + ": too many exist or they are nested too deep (" + line + ")", "run outside of any other sandbox, or raise user.max_user_namespaces with sysctl"
	}
	return refused + " (" + line + ")", "ask the administrator to allow unprivileged user namespaces for bwrap"
}

func nested(line string, m Machine) (detail, remedy string) {
	if m.Container {
		return "the container around this process forbids the sandbox's mounts (" + line + ")", "let the container mount /proc: docker run --security-opt systempaths=unconfined --security-opt seccomp=unconfined"
	}
	return "the system around this process forbids the sandbox's mounts (" + line + ")", "run outside of any other sandbox"
}

// older compares dotted versions; the text around them ("bubblewrap 0.8.0") does not matter. An unknown version is not older.
func older(version, than string) bool {
	a, b := numbers(version), numbers(than)
	if len(a) == 0 {
		return false
	}
	for i := range b {
		switch {
		case i >= len(a) || a[i] < b[i]:
			return i < len(a) || b[i] > 0
		case a[i] > b[i]:
			return false
		}
	}
	return false
}

func numbers(version string) []int {
	fields := strings.Fields(version)
	if len(fields) == 0 {
		return nil
	}
	var out []int
	for _, part := range strings.Split(fields[len(fields)-1], ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return out
		}
		out = append(out, n)
	}
	return out
}

func orUnknown(version string) string {
	if n := strings.Fields(version); len(n) > 0 {
		return plain.Line(n[len(n)-1], 40)
	}
	return "of unknown version"
}

// missing says that there is no program at all.
func missing() *UnavailableError {
	return &UnavailableError{
		Backend: bubblewrapName, Cause: CauseMissing,
		Detail: "bwrap (bubblewrap) was not found in " + strings.Join(bubblewrapPlaces, ", ") + " or on PATH, outside of what a kernel may write",
		Remedy: "install the package bubblewrap",
	}
}
