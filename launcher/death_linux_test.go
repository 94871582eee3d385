package launcher

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
)

// other is a process of TestMain's.
type other struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func start(t *testing.T, part string, env ...string) *other {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "KERNEL_LAUNCH_TEST="+part, "KERNEL_LAUNCH_TEST_FOLDER="+folder(t)), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return &other{cmd, bufio.NewReader(out)}
}

// line waits for what the process says next.
func (o *other) line(t *testing.T) string {
	t.Helper()
	s, err := o.out.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(s)
}

// Twenty launchers, four at a time, each killed with a kernel that has a daemon.
func TestAKilledLauncherLeavesNothing(t *testing.T) {
	require.NoError(t, MakeDefault())
	run, env := runtimeDir(t)
	mounts := hostMounts(t)
	for range 5 {
		var all []witness.Process
		var ports []string
		var launchers []*other
		for range 4 {
			launchers = append(launchers, start(t, "launch", env))
		}
		for _, l := range launchers {
			ports = append(ports, strings.Fields(l.line(t))...)
			own := tree(t, l.cmd.Process.Pid)
			require.GreaterOrEqual(t, len(own), 5, "launcher, bwrap, process 1, kernel, daemon")
			all = append(all, own...)
		}
		require.Len(t, ports, 20)
		require.NotEmpty(t, sandboxes(t), "the control of the next test")
		for _, l := range launchers {
			require.NoError(t, l.cmd.Process.Kill())
		}
		for _, l := range launchers {
			l.cmd.Wait()
		}
		requireGone(t, all)
		for _, port := range ports {
			_, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
			assert.ErrorIs(t, err, syscall.ECONNREFUSED)
		}
	}
	assert.Equal(t, mounts, hostMounts(t))
	requireSwept(t, run, env)
}

// requireSwept says that the next start, and not only a list, clears what the killed ones left.
func requireSwept(t *testing.T, run, env string) {
	t.Helper()
	records := func() []string {
		list, err := filepath.Glob(run + "/kernel-launch/kernels/*.lock")
		require.NoError(t, err)
		return list
	}
	require.NotEmpty(t, records(), "the control: the last four left theirs")
	next := launch(t, Spec{Environ: append(os.Environ(), env)})
	require.Eventually(t, func() bool { return len(records()) == 1 }, time.Minute, 5*time.Millisecond)
	assert.Equal(t, next.ID()+".lock", filepath.Base(records()[0]))
}

func hostMounts(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	return string(b)
}

// A launcher that is killed while its sandbox is made: the moments of the first tenth of a second.
func TestALauncherThatIsKilledWhileItStartsLeavesNothing(t *testing.T) {
	require.NoError(t, MakeDefault())
	_, env := runtimeDir(t)
	for i := range 20 {
		l := start(t, "launch", env)
		time.Sleep(time.Duration(i) * 8 * time.Millisecond) // the moment is what the test varies
		all := tree(t, l.cmd.Process.Pid)
		require.NoError(t, l.cmd.Process.Kill())
		l.cmd.Wait()
		requireGone(t, all)
		requireNoSandbox(t)
	}
}

// requireNoSandbox looks for what appeared too late for tree.
func requireNoSandbox(t *testing.T) {
	t.Helper()
	end := time.Now().Add(time.Second)
	for len(sandboxes(t)) > 0 && time.Now().Before(end) {
		time.Sleep(5 * time.Millisecond)
	}
	require.Empty(t, sandboxes(t))
}

// sandboxes lists the processes that see parts of this test's home by mounts of their own: every inside does.
func sandboxes(t *testing.T) (found []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	require.NoError(t, err)
	for _, p := range paths {
		if m, err := os.ReadFile(p); err == nil && bytes.Contains(m, []byte(os.Getenv("HOME"))) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "cmdline"))
			found = append(found, p+" "+string(line))
		}
	}
	return found
}

func TestALauncherEndsWithItsParent(t *testing.T) {
	require.NoError(t, MakeDefault())
	t.Parallel()
	_, env := runtimeDir(t)
	server := start(t, "parent", env)
	pid, err := strconv.Atoi(server.line(t))
	require.NoError(t, err)
	require.Len(t, strings.Fields(server.line(t)), 5)
	all := tree(t, pid)
	require.GreaterOrEqual(t, len(all), 5)
	require.NoError(t, server.cmd.Process.Kill())
	require.Empty(t, witness.Wait(all, parentPoll+stopGrace+3*time.Second))
}
