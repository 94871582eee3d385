package probe

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestMain lets this test program be what runs the probes.
func TestMain(m *testing.M) {
	Main(os.Args)
	os.Exit(m.Run())
}

func try(t *testing.T, calls ...Call) []Outcome {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	out, err := exec.Command(self, Word, Text(calls...)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var all []Outcome
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var o Outcome
		require.NoError(t, d.Decode(&o), "%s", out)
		all = append(all, o)
	}
	require.Len(t, all, len(calls))
	return all
}

func TestEachAttemptIsAnswered(t *testing.T) {
	dir := t.TempDir()
	all := try(
		t,
		Call{Name: "create", Args: Args{Path: dir + "/f", Other: "text"}},
		Call{Name: "create", Args: Args{Path: dir + "/f"}},
		Call{Name: "read", Args: Args{Path: dir + "/f"}},
		Call{Name: "try to create", Args: Args{Path: dir + "/g"}},
		Call{Name: "list", Args: Args{Path: dir}},
		Call{Name: "read", Args: Args{Path: dir + "/none"}},
		Call{Name: "fly"},
	)
	assert.Equal(t, []Outcome{
		{Did: true}, {Error: "EEXIST"}, {Did: true, Detail: "text"}, {Did: true}, {Did: true, Detail: "f"}, {Error: "ENOENT"}, {Error: `no probe "fly" on this system`},
	}, all)
}

func TestWhatKillsAChildIsItsAnswer(t *testing.T) {
	all := try(
		t,
		Call{Name: "kill itself", Args: Args{Numbers: []int64{int64(unix.SIGKILL)}}, In: Process},
		Call{Name: "exit", Args: Args{Numbers: []int64{7}}, In: Process},
		Call{Name: "stat", Args: Args{Path: "/"}, In: Process},
		Call{Name: "stat", In: "nowhere"},
	)
	assert.Equal(t, []Outcome{{Error: "SIGKILL"}, {Error: "exit status 7"}, {Did: true}, {Error: `"nowhere" is no place for a probe`}}, all)
}

func TestPlaces(t *testing.T) {
	all := try(
		t,
		Call{Name: "open", Args: Args{Path: "/dev/tty"}, In: Terminal},
		Call{Name: "status", Args: Args{Path: "CapEff"}, In: Namespaces},
		Call{Name: "interfaces", In: Namespaces},
	)
	assert.True(t, all[0].Did)
	assert.Contains(t, all[1].Detail, "ffffff")
	assert.Equal(t, "lo", all[2].Detail)
}

func TestAProtectedFileIsOpenedAndNotWritten(t *testing.T) {
	path := t.TempDir() + "/f"
	require.NoError(t, os.WriteFile(path, []byte("as it was"), 0o600))
	before, err := os.Stat(path)
	require.NoError(t, err)
	all := try(t, Call{Name: "open to write", Args: Args{Path: path}}, Call{Name: "open to write", Args: Args{Path: path + "/none"}})
	assert.Equal(t, []string{"did", "ENOTDIR"}, []string{all[0].String(), all[1].String()})
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime())
	assert.Equal(t, before.Size(), after.Size())
}

func TestTheListMayComeOnStandardInput(t *testing.T) {
	var out strings.Builder
	assert.Zero(t, run(nil, strings.NewReader(Text(Call{Name: "stat", Args: Args{Path: "/"}})), &out))
	assert.Equal(t, "{\"did\":true}\n", out.String())
	out.Reset()
	assert.Equal(t, 2, run([]string{"{"}, nil, &out))
	assert.Contains(t, out.String(), "list of probes")
}
