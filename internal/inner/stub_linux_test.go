package inner

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
	for _, c := range []struct {
		name, path, found string
		status            int
	}{
		{"/usr/bin/env", "", "/usr/bin/env", 0},
		{"env", "/usr/bin:/bin", "/usr/bin/env", 0},
		{"env", "/gone:" + dir + ":/usr/bin", "/usr/bin/env", 0},
		{"env", "", "", exitNotFound},
		{"env", ".:usr/bin", "", exitNotFound},
		{"no-such-program", "/usr/bin:/bin", "", exitNotFound},
		{"/no/such/program", "/usr/bin", "", exitNotFound},
		{"plain", dir + ":/usr/bin", "", exitNoExec},
		{dir + "/plain", "", "", exitNoExec},
		{dir, "", "", exitNoExec},
		{"", "/usr/bin", "", exitNotFound},
	} {
		found, status, err := find(c.name, c.path)
		assert.Equal(t, c.found, found, c)
		assert.Equal(t, c.status, status, c)
		assert.Equal(t, c.status == 0, err == nil, c)
	}
	assert.Equal(t, exitNotFound, statusOf(&os.PathError{Op: "exec", Err: syscall.ENOENT}))
	assert.Equal(t, exitNoExec, statusOf(syscall.ENOEXEC))
	assert.Equal(t, "b=c", variable([]string{"PATH=/a", "PATHS=x", "PATH=b=c"}, "PATH"))
	assert.Empty(t, variable([]string{"PATHS=x"}, "PATH"))
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
		{[]string{"[]", "/no/such/program", "x"}, 127, "127 /no/such/program: no such file"},
		{[]string{"[]", dir + "/plain", "x"}, 126, "126 " + dir + "/plain: permission denied"},
		{[]string{"[]", dir + "/noise", "x"}, 126, "126 " + dir + "/noise: exec format error"},
		{[]string{"[]", dir + "/lost", "x"}, 127, "127 " + dir + "/lost: no such file"},
		{[]string{"[]", "/usr/bin/env"}, 125, "125 the stub was given no program"},
		{nil, 125, "125 the stub was given no program"},
		{[]string{"no limits", "/usr/bin/env", "env"}, 125, "125 "},
		{[]string{`[{"resource":99,"value":1}]`, "/usr/bin/env", "env"}, 125, "125 limit resource 99 to 1: invalid argument"},
		{[]string{"[]", "/bin/sh", "sh", "-c", "exit 7"}, 7, ""},
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

func TestTheStubLeavesNoBlockedSignalAndNoDescriptorOfOurs(t *testing.T) {
	out, status, _ := stubbed(t, "[]", "/bin/sh", "sh", "-c", "grep SigBlk /proc/self/status; ls -l /proc/$$/fd")
	require.Zero(t, status)
	assert.Contains(t, out, "SigBlk:\t0000000000000000")
	assert.NotContains(t, out, " 3 -> ", "the status pipe")
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
