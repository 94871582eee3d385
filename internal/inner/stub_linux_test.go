package inner

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// programs are files that can and cannot be run.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"plain": 0o644, "noise": 0o755} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("\x00\x01 no program"), mode))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lost"), []byte("#!/no/such/interpreter\n"), 0o755))
	return dir
}

func TestFind(t *testing.T) {
	dir := programs(t)
	t.Setenv("PATH", "/usr/bin:/bin")
	for _, c := range []struct {
		name, path string
		status     int
	}{
		{"/usr/bin/env", "/usr/bin/env", 0},
		{"env", "/usr/bin/env", 0},
		{"no-such-program", "", exitNotFound},
		{"/no/such/program", "", exitNotFound},
		{dir + "/plain", "", exitNoExec},
		{dir, "", exitNoExec},
		{"", "", exitNotFound},
	} {
		path, status, err := find(c.name)
		assert.Equal(t, c.path, path, c.name)
		assert.Equal(t, c.status, status, c.name)
		assert.Equal(t, c.status == 0, err == nil, c.name)
	}
	assert.Equal(t, exitNotFound, statusOf(&os.PathError{Op: "exec", Err: syscall.ENOENT}))
	assert.Equal(t, exitNoExec, statusOf(syscall.ENOEXEC))
}

// stubbed runs the stub as pid 1 does, and returns its output, its status and what came through the status pipe.
func stubbed(t *testing.T, args ...string) (out string, status int, said string) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd := exec.Command(os.Args[0], append([]string{StubWord}, args...)...)
	cmd.ExtraFiles = []*os.File{w}
	b, err := cmd.Output()
	w.Close()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(b), cmd.ProcessState.ExitCode(), string(text)
}

func TestTheStubBecomesTheProgramOrSaysWhyNot(t *testing.T) {
	dir := programs(t)
	for _, c := range []struct {
		args   []string
		status int
		said   string
	}{
		{[]string{"{}", "/no/such/program"}, 127, "127 /no/such/program is not there"},
		{[]string{"{}", dir + "/plain"}, 126, "126 " + dir + "/plain cannot be executed"},
		{[]string{"{}", dir + "/noise"}, 126, "126 " + dir + "/noise: exec format error"},
		{[]string{"{}", dir + "/lost"}, 127, "127 " + dir + "/lost: no such file"},
		{[]string{"{}"}, 125, "125 the stub was given no program"},
		{nil, 125, "125 the stub was given no program"},
		{[]string{"no options", "/usr/bin/env"}, 125, "125 "},
		{[]string{"{}", "/bin/sh", "-c", "exit 7"}, 7, ""},
	} {
		_, status, said := stubbed(t, c.args...)
		assert.Equal(t, c.status, status, "%v: %s", c.args, said)
		if c.said == "" {
			assert.Empty(t, said, "the pipe closes by itself when the program runs")
		} else {
			assert.True(t, strings.HasPrefix(said, c.said), "%v: %s", c.args, said)
		}
	}
}

func TestTheProgramHasNoBlockedSignalAndNoDescriptorOfOurs(t *testing.T) {
	out, status, _ := stubbed(t, "{}", "/bin/sh", "-c", "grep SigBlk /proc/self/status; ls -l /proc/$$/fd")
	require.Zero(t, status)
	assert.Contains(t, out, "SigBlk:\t0000000000000000")
	assert.NotContains(t, out, " 3 -> ", "the status pipe")
}

func TestSettle(t *testing.T) {
	b, err := os.ReadFile("/proc/self/oom_score_adj")
	require.NoError(t, err)
	before, err := strconv.Atoi(strings.TrimSpace(string(b)))
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KERNEL_LAUNCH_TEST=settle")
	out, err := cmd.Output()
	require.NoError(t, err)
	var s settled
	require.NoError(t, json.Unmarshal(out, &s))
	assert.Empty(t, s.Error)
	assert.EqualValues(t, 1, s.Core.Cur)
	assert.EqualValues(t, 1, s.Core.Max)
	assert.Equal(t, strconv.Itoa(min(before+200, 1000)), strings.TrimSpace(s.OOM))
}

func TestTheInsideRunsOnlyAsTheFirstProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0], Word)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
	assert.Contains(t, string(out), "only as the first process of a sandbox")
}

func TestMainReturnsForEverythingElse(t *testing.T) {
	for _, args := range [][]string{nil, {"kernel-launch"}, {"kernel-launch", "--env", "x", "-f", "y"}, {"kernel-launch", "x", Word}} {
		Main(t.Context(), args) // it would end the tests otherwise
	}
}
