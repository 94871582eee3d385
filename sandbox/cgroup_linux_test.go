package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// imitation is a folder with the files of a cgroup v2, for the logic that no delegated one is needed for.
func imitation(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestTheFilesOfACgroupV2(t *testing.T) {
	b := &Bounds{Memory: 64 << 20, Processes: 20, CPUs: 0.5}
	all := []string{"memory", "processes", "cpus"}
	dir := imitation(t, map[string]string{"cgroup.procs": "", "memory.max": "max", "pids.max": "max", "cpu.max": "max 100000"})
	require.NoError(t, cgroup{dir}.set(settings(TierCgroup2, b, all)), "a kernel without swap has no file for it")
	require.NoError(t, cgroup{dir}.enter(4711))
	for name, want := range map[string]string{"memory.max": "67108864", "pids.max": "36", "cpu.max": "50000 100000", "cgroup.procs": "4711"} {
		assert.Equal(t, want, kernelText(filepath.Join(dir, name))[:len(want)], name)
	}
	require.NoError(t, os.Remove(dir+"/memory.max"))
	err := cgroup{dir}.set(settings(TierCgroup2, b, all))
	require.ErrorIs(t, err, os.ErrNotExist, "a limit that cannot be written is never left out")
	assert.ErrorContains(t, err, dir+"/memory.max")
	assert.NoFileExists(t, dir+"/memory.max")
}

func TestControllersAreGivenToGroupsBelow(t *testing.T) {
	dir := imitation(t, map[string]string{"cgroup.subtree_control": "cpu hugetlb"})
	require.NoError(t, enable(dir, []string{"memory", "cpus"}))
	assert.Equal(t, "+memoryetlb", kernelText(dir + "/cgroup.subtree_control")[:11], "what was there already is not asked for")
	dir = imitation(t, map[string]string{"cgroup.subtree_control": "cpu memory pids"})
	require.NoError(t, os.Chmod(dir+"/cgroup.subtree_control", 0o400))
	require.NoError(t, enable(dir, []string{"memory", "processes", "cpus"}))
	assert.Equal(t, "cpu memory pids", kernelText(dir+"/cgroup.subtree_control"))
}

func TestARealCgroupV2IsMadeEnteredAndRemoved(t *testing.T) {
	c := observeControl()
	if len(c.Unified) == 0 || !c.Unified[0].Root || c.Unified[0].Fault != "" {
		t.Skip("no cgroup v2 in which this user could make a group beside processes")
	}
	m, err := makeCgroup(Group{Tier: TierCgroup2, Parent: c.Unified[0].Path}, &Bounds{}, newGroupName())
	require.NoError(t, err)
	defer m.remove()
	child := exec.Command("/bin/sleep", "60")
	require.NoError(t, child.Start())
	require.NoError(t, m.enter(child.Process.Pid))
	assert.Contains(t, kernelText("/proc/"+strconv.Itoa(child.Process.Pid)+"/cgroup"), "0::/"+filepath.Base(m.folder()))
	began := time.Now()
	require.Error(t, m.remove(), "it is busy")
	assert.GreaterOrEqual(t, time.Since(began), emptiedIn)
	require.NoError(t, child.Process.Kill())
	child.Wait()
	require.NoError(t, m.remove())
	require.NoError(t, m.remove(), "once more is no error")
	assert.NoDirExists(t, m.folder())
}
