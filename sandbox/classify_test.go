package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/cases"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		stderr, version string
		m               Machine
		cause           string
		detail, remedy  string
	}{
		{"bwrap: Unknown option --disable-userns\n", "bubblewrap 0.6.1", Machine{}, CauseTooOld, "bubblewrap 0.6.1 is older than 0.8.0", "0.8.0 or newer"},
		{"bwrap: Unknown option --size", "", Machine{}, CauseTooOld, "unknown version", "0.8.0 or newer"},
		{"", "bubblewrap 0.4.0", Machine{}, CauseTooOld, "0.4.0", "0.8.0 or newer"},
		{"bwrap: setting up uid map: Permission denied\n", "bubblewrap 0.9.0", Machine{AppArmorRestricts: true}, CauseUsernsRefused, "AppArmor refuses user namespaces", "a profile for bwrap"},
		{"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "", Machine{AppArmorRestricts: true}, CauseUsernsRefused, "AppArmor", "a profile for bwrap"},
		{"bwrap: setting up uid map: Permission denied", "", Machine{}, CauseUsernsRefused, "user namespaces are refused", "administrator"},
		{
			"bwrap: No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces. On e.g. debian this can be enabled with 'sysctl kernel.unprivileged_userns_clone=1'.",
			"",
			Machine{CloneOff: true},
			CauseUsernsRefused, "unprivileged_userns_clone is 0", "unprivileged_userns_clone to 1",
		},
		{
			"bwrap: No permissions to creating new namespace, likely because the kernel does not allow non-privileged user namespaces.",
			"bubblewrap 0.8.0",
			Machine{Container: true},
			CauseUsernsRefused, "container", "docker run",
		},
		{
			"bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
			"",
			Machine{NoNamespaces: true},
			CauseUsernsRefused, "max_user_namespaces is 0", "1000 or more",
		},
		{
			"bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
			"",
			Machine{},
			CauseUsernsRefused, "nested too deep", "outside of any other sandbox",
		},
		{"bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "", Machine{Container: true}, CauseNested, "container", "systempaths=unconfined"},
		{"bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "", Machine{}, CauseNested, "forbids the sandbox's mounts", "outside of any other sandbox"},
		{"bwrap: Failed to make / slave: Permission denied", "", Machine{Container: true}, CauseNested, "container", "docker run"},
		{"bwrap: cannot open /proc/sys/user/max_user_namespaces: Read-only file system", "", Machine{Container: true}, CauseNested, "container", "docker run"},
		{"bwrap: Race condition binding dirfd 12", "", Machine{}, CauseChanged, "dirfd 12", "start again"},
		{
			"bwrap: Unable to set up system call filtering as requested: prctl(PR_SET_SECCOMP) reported EINVAL. (Hint: this requires a kernel configured with CONFIG_SECCOMP and CONFIG_SECCOMP_FILTER.)",
			"bubblewrap 0.8.0",
			Machine{},
			CauseNoSeccomp, "cannot be filtered", "CONFIG_SECCOMP_FILTER",
		},
		{"bwrap: Can't make symlink at /data: existing destination is /x", "bubblewrap 0.8.0", Machine{}, CauseUnknown, "/data", "report this line"},
		{"noise\nbwrap: \x1b[31mstrange\x1b[0m\n", "bubblewrap 0.11.1", Machine{}, CauseUnknown, `\x1b[31mstrange`, "report this line"},
	} {
		e := Classify(c.stderr, c.version, c.m)
		require.NotNil(t, e, c.stderr)
		assert.Equal(t, c.cause, e.Cause, c.stderr)
		assert.Contains(t, e.Detail, c.detail)
		assert.Contains(t, e.Remedy, c.remedy)
		assert.Equal(t, "bubblewrap", e.Backend)
		assert.NotContains(t, e.Remedy, "apparmor_restrict_unprivileged_userns", "the cure for one program comes before the one for all")
	}
}

func TestClassifyLeavesOthersAlone(t *testing.T) {
	for _, text := range []string{"", "Traceback (most recent call last):\n", "bwrap: execvp /no/such: No such file or directory\n",
		"bwrap: Can't chdir to /closed: Permission denied\n", "bwrap: Can't get type of source /gone: No such file or directory\n", "bwrap: Can't find source path /gone: No such file or directory\n",
	} {
		assert.Nil(t, Classify(text, "bubblewrap 0.8.0", Machine{}), text)
	}
}

func TestAdvisory(t *testing.T) {
	for _, version := range []string{"bubblewrap 0.8.0", "bubblewrap 0.11.2"} {
		assert.Contains(t, Advisory(version), "CVE-2026-87766", version)
	}
	for _, version := range []string{"bubblewrap 0.12.0", "bubblewrap 1.0", ""} {
		assert.Empty(t, Advisory(version), version)
	}
}

func TestOlder(t *testing.T) {
	for version, want := range map[string]bool{
		"bubblewrap 0.8.0": false, "bubblewrap 0.8": false, "bubblewrap 0.7.99": true, "bubblewrap 0.11.1": false, "bubblewrap 1": false,
		"0.4": true, "": false, "gibberish": false, "bubblewrap 0": true,
	} {
		assert.Equal(t, want, older(version, "0.8.0"), version)
	}
}

// probeCase is a row of kind backend_probe of testdata/cases/sandbox.json: what the backend's program said on a machine, and what people must be told.
type probeCase struct {
	ID    string
	Input struct {
		Kind   string
		Stderr []string `json:"stderr_variants"`
		Sysctl map[string]string
	}
	Expected struct {
		Verdict string
		Names   []string `json:"message_names"`
	}
}

func TestProbeCases(t *testing.T) {
	cases.RunSome(t, cases.Runners[probeCase]{"backend_probe": func(t *testing.T, row probeCase) { row.run(t) }}, "sandbox.json")
}

func (row probeCase) run(t *testing.T) {
	require.Equal(t, "refuse", row.Expected.Verdict)
	require.NotEmpty(t, row.Input.Stderr)
	m := Machine{AppArmorRestricts: row.Input.Sysctl["kernel.apparmor_restrict_unprivileged_userns"] == "1"}
	for _, text := range row.Input.Stderr {
		e := Classify(text, "bubblewrap 0.9.0", m)
		require.NotNil(t, e, text)
		for _, name := range row.Expected.Names {
			assert.Contains(t, e.Error()+"; "+e.Remedy, name, text)
		}
		assert.NotContains(t, e.Remedy, "sysctl", "the cure for one program comes before the one for all")
	}
}
