package sandbox

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// withCopy is a world whose plan copies source to target besides.
func withCopy(t *testing.T, source, target string, optional bool) (*world, *Plan) {
	t.Helper()
	w := newWorld(t)
	plan := w.plan()
	last := len(plan.Mounts) - 1 // the seal of the root
	require.Equal(t, MountSeal, plan.Mounts[last].Kind)
	m := Mount{Kind: MountCopy, Source: source, Target: target, Mode: 0o444, Optional: optional, Why: "a test"}
	plan.Mounts = append(append(append([]Mount{}, plan.Mounts[:last]...), m), plan.Mounts[last])
	return w, plan
}

func TestFilesOfEtcAreThereAndCannotBeChanged(t *testing.T) {
	w := newWorld(t)
	var paths []string
	for _, m := range w.plan().Mounts {
		if m.Kind == MountCopy {
			require.Empty(t, m.Data, "planning reads no content")
			paths = append(paths, m.Target)
		}
	}
	require.NotEmpty(t, paths, "no machine is without /etc/ld.so.cache")
	require.Equal(t, w.outside("read", paths...), w.inside("read", paths...))
	require.Equal(t, strings.Repeat("permission denied\n", len(paths)), w.inside("write", paths...), "by mode, which cannot be changed either:")
	require.Equal(t, strings.Repeat("read-only file system\n", len(paths)), w.inside("chmod", paths...))
	require.Equal(t, strings.Repeat("read-only file system\n", len(paths)), w.inside("remove", paths...))
}

func TestACopyIsOfTheStartAndReadOnly(t *testing.T) {
	source := t.TempDir() + "/source"
	require.NoError(t, os.WriteFile(source, []byte("at the plan"), 0o600))
	w, plan := withCopy(t, source, "/etc/copied", false)
	require.NoError(t, os.WriteFile(source, []byte("at the start"), 0o600))
	require.Equal(t, "at the startok\n", w.insideOf(plan, "read", "/etc/copied"))
	require.Equal(t, "at the startok\n", w.insideOf(plan, "read", "/etc/copied"), "a plan can be started again")
	require.Equal(t, "-r--r--r-- ok\n", w.insideOf(plan, "mode", "/etc/copied"))
	require.Equal(t, "read-only file system\n", w.insideOf(plan, "create", "/etc/copied"))
	require.Equal(t, "read-only file system\n", w.insideOf(plan, "chmod", "/etc/copied"))
}

func TestACopyWhoseSourceHasGone(t *testing.T) {
	gone := t.TempDir() + "/gone"
	w, plan := withCopy(t, gone, "/etc/copied", true)
	require.Equal(t, "no such file or directory\n", w.insideOf(plan, "read", "/etc/copied"))
	_, plan = withCopy(t, gone, "/etc/copied", false)
	_, err := Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "exit"}})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, gone)
	require.ErrorContains(t, err, "/etc/copied")
}

func TestWhatIsNoRegularFileIsNotCopied(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, unix.Mkfifo(dir+"/pipe", 0o600))
	for _, source := range []string{dir, dir + "/pipe", "/dev/null"} {
		_, err := content(Mount{Kind: MountCopy, Source: source, Target: "/etc/x", Optional: true})
		assert.ErrorContains(t, err, "no regular file", source)
	}
}

func TestAFileThatIsClosedToUs(t *testing.T) {
	if os.Geteuid() == 0 {
		m, err := content(Mount{Kind: MountCopy, Source: "/etc/shadow", Target: "/etc/x"})
		require.NoError(t, err, "the control: root may open it")
		require.NoError(t, m.Close())
		return
	}
	f, err := content(Mount{Kind: MountCopy, Source: "/etc/shadow", Target: "/etc/x", Optional: true})
	require.NoError(t, err)
	require.Nil(t, f)
	_, err = content(Mount{Kind: MountCopy, Source: "/etc/shadow", Target: "/etc/x"})
	require.ErrorIs(t, err, os.ErrPermission)
}

func TestNothingOfAFailedStartStaysOpen(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/there", nil, 0o600))
	plan := &Plan{Backend: bubblewrapName, Program: "/usr/bin/bwrap", Dir: "/", Mounts: []Mount{
		{Kind: MountCopy, Source: dir + "/there", Target: "/a"},
		{Kind: MountFile, Data: []byte("x"), Target: "/b"},
		{Kind: MountCopy, Source: dir + "/gone", Target: "/c"},
	}}
	_, err := start(t.Context(), plan, Command{Argv: []string{"/bin/true"}})
	require.ErrorContains(t, err, dir+"/gone")
	names, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, n := range names {
		to, _ := os.Readlink("/proc/self/fd/" + n.Name())
		assert.NotContains(t, to, dir)
		assert.NotContains(t, to, "kernel-launch-data")
	}
}
