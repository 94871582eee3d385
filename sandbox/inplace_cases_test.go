package sandbox

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/cases"
)

// platformCase is a row of testdata/cases/sandbox-platforms.json. What depends on input.kind stays raw.
type platformCase struct {
	ID       string
	Input    json.RawMessage
	Expected json.RawMessage
}

func TestPlatformCases(t *testing.T) {
	cases.Run(t, "sandbox-platforms.json", cases.Runners[platformCase]{"workload": workloadCase, "windows_plan": windowsCase})
}

// needs are what a workload needs, by the words of the rows: on macOS an operation of the profile, on Linux a part of the plan.
var darwinNeeds = map[string]action{
	"named POSIX semaphores": {operation: "ipc-posix-sem-create"},
	"POSIX shared memory":    {operation: "ipc-posix-shm-write-create"},
}

var linuxNeeds = map[string]string{
	"writable private /dev/shm":                         "/dev/shm",
	"unix sockets inside the sandbox's own temp folder": "/tmp",
}

func workloadCase(t *testing.T, c platformCase) {
	var in struct {
		Network   Network
		Platforms []string
	}
	var want struct {
		Allows []string `json:"darwin_profile_allows"`
		Linux  []string `json:"linux_needs"`
	}
	require.NoError(t, json.Unmarshal(c.Input, &in))
	require.NoError(t, json.Unmarshal(c.Expected, &want))
	require.NotEmpty(t, want.Allows)
	m := rulesOf(t, func(p *Policy) { p.Network = in.Network })
	for _, need := range want.Allows {
		require.Contains(t, darwinNeeds, need)
		assert.True(t, m.allows(darwinNeeds[need]), need)
	}
	assert.True(t, m.allows(action{operation: "network-outbound", path: macTemp + "/pymp-1/listener"}), "what multiprocessing connects by")
	plan := compile(t, Policy{Network: in.Network}, machine())
	for _, need := range want.Linux {
		require.Contains(t, linuxNeeds, need)
		private := false
		for _, mount := range plan.Mounts {
			private = private || mount.Target == linuxNeeds[need] && mount.Kind == MountTmpfs
		}
		assert.True(t, private, need)
	}
}

func windowsCase(t *testing.T, c platformCase) {
	var in struct {
		Python []string
		Grants []string `json:"grants_asked"`
	}
	var want struct{ Python, Grants, Never []string }
	require.NoError(t, json.Unmarshal(c.Input, &in))
	require.NoError(t, json.Unmarshal(c.Expected, &want))
	f := win()
	f.Homes, f.Known["TEMP"], f.Known["LOCALAPPDATA"] = []string{`C:\Users\u1`}, `C:\Users\u1\AppData\Local\Temp`, `C:\Users\u1\AppData\Local`
	for _, path := range in.Python {
		f.Paths[path] = Entry{Kind: EntryFile, Resolved: path}
	}
	for i, path := range in.Python {
		assert.Equal(t, want.Python[i], verdictOn(Policy{Prefixes: []string{path}}, f), path)
	}
	for i, path := range in.Grants {
		if !strings.Contains(path, "%") {
			f.Paths[path] = Entry{Kind: EntryFolder, Resolved: path}
		}
		got := verdictOn(Policy{Write: []string{path}}, f)
		assert.Equal(t, want.Grants[i], got, path)
	}
	require.Equal(t, []string{`change the rights of C:\ or C:\Users`}, want.Never)
	plan := compile(t, Policy{Folder: in.Grants[1], Read: in.Grants[2:], Prefixes: in.Python[1:]}, f)
	require.NotEmpty(t, plan.AppContainer.Grants)
	for _, g := range plan.AppContainer.Grants {
		assert.NotContains(t, []string{`c:`, `c:\`, `c:\users`}, strings.ToLower(g.Path))
	}
}

// verdictOn says in the words of the rows what becomes of a policy with one path.
func verdictOn(p Policy, f Facts) string {
	plan, err := Compile(p, f)
	switch {
	case err != nil && strings.Contains(err.Error(), "execution alias"):
		return "rejected: execution alias"
	case err != nil && strings.Contains(err.Error(), "is a home folder"):
		return "refused: whole profile"
	case err != nil:
		return err.Error()
	case len(p.Prefixes) > 0 && len(plan.AppContainer.Trials) == 1:
		return "accepted after a trial run inside the container"
	}
	for _, g := range plan.AppContainer.Grants {
		if g.Path == p.Write[0] && g.Rights == "M" {
			return "granted"
		}
	}
	if strings.HasPrefix(plan.AppContainer.Temp, `C:\Users\u1\AppData\Local\Packages\`+plan.AppContainer.Name) && len(plan.AppContainer.Grants) == 0 {
		return "replaced by a private subfolder"
	}
	return "lost"
}
