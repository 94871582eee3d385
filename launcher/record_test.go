package launcher

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

func itoa(n int) string { return strconv.Itoa(n) }

func stand(t *testing.T) (dirs.Dirs, *Kernel) {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, "run"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(home, "run"), 0o700))
	d, err := dirs.For("linux", func(k string) string {
		return map[string]string{"HOME": home, "XDG_RUNTIME_DIR": filepath.Join(home, "run")}[k]
	})
	require.NoError(t, err)
	p := &Plan{
		Environment: &envs.Environment{Name: "default", Language: envs.Python, Generation: 3},
		Sandbox:     &sandbox.Plan{Network: sandbox.NetworkAllowlist}, Folder: "/work", host: host{dirs: d},
	}
	k := &Kernel{plan: p, state: Running, context: t.Context()}
	require.NoError(t, k.claim())
	return d, k
}

func TestARecordSaysWhatRunsAndGoesWithIt(t *testing.T) {
	d, k := stand(t)
	r, err := register(k)
	require.NoError(t, err)
	all, err := Kernels(d)
	require.NoError(t, err)
	require.Len(t, all, 1)
	got := all[0]
	assert.Equal(t, k.ID(), got.ID)
	assert.Equal(t, os.Getpid(), got.PID)
	assert.Equal(t, envs.StartToken(os.Getpid()), got.Start)
	assert.Equal(t, "default", got.Environment)
	assert.Equal(t, 3, got.Generation)
	assert.Equal(t, "/work", got.Folder)

	reply, err := got.Ask(t.Context(), OpStatus)
	require.NoError(t, err)
	assert.Equal(t, Running, reply.State)
	_, err = got.Ask(t.Context(), "fly")
	require.ErrorContains(t, err, "fly")

	r.remove()
	all, err = Kernels(d)
	require.NoError(t, err)
	assert.Empty(t, all)
	left, err := os.ReadDir(got.dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestMain starts this as another process that registers a kernel and is killed: only the kernel's release of the lock tells.
func TestADeadLauncherIsNotListedAndSweptAway(t *testing.T) {
	d, own := stand(t)
	own.claimed.remove()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KERNEL_LAUNCH_TEST=register", "HOME="+d.Home, "XDG_RUNTIME_DIR="+filepath.Dir(d.Runtime))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	all, err := Kernels(d)
	require.NoError(t, err)
	require.Len(t, all, 1, "the control: it is listed while it lives")
	assert.Equal(t, cmd.Process.Pid, all[0].PID)

	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	all, err = Kernels(d)
	require.NoError(t, err)
	assert.Empty(t, all)
	left, err := os.ReadDir(filepath.Join(d.Runtime, "kernels"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAStartTokenTellsProcessesApart(t *testing.T) {
	own := envs.StartToken(os.Getpid())
	assert.NotEmpty(t, own)
	assert.Equal(t, own, envs.StartToken(os.Getpid()))
	assert.NotEqual(t, own, envs.StartToken(1)) // a parent may have started within the same tick
	assert.Empty(t, envs.StartToken(1<<30))
}

func TestAControlSocketBelowALongPath(t *testing.T) {
	dir := t.TempDir()
	for len(dir) < 150 {
		dir = filepath.Join(dir, "a-rather-long-folder-name")
	}
	require.NoError(t, os.MkdirAll(dir, 0o700))
	l, err := listenUnix(filepath.Join(dir, "k.sock"))
	require.NoError(t, err)
	defer l.Close()
	c, err := dialUnix(t.Context(), filepath.Join(dir, "k.sock"))
	require.NoError(t, err)
	c.Close()
}
