package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Each program ends by itself, so that its control does: 400 MiB, 60 processes, and 32 MiB in /tmp. The first would be the first to be killed should the
// machine run out of memory.
const (
	memoryBomb = "open('/proc/self/oom_score_adj', 'w').write('1000')\nx = []\nfor i in range(100): x.append(bytearray(4 << 20))\nprint('took', len(x))\ndel x"
	forkBomb   = "import os, time\nfor n in range(60):\n    if os.fork() == 0: time.sleep(60); os._exit(0)\nprint('had', n + 1)"
	filler     = "with open('/tmp/fill', 'wb', 0) as f:\n    for n in range(32): assert f.write(bytes(1 << 20)) == 1 << 20\nprint('wrote', n + 1)"
)

// attempted runs one of the programs and says what came of it: its last line, or its exception's name.
func (s *served) attempted(code string) string {
	s.t.Helper()
	printed, exception := s.cell(code, nil)
	if exception != "" {
		return exception
	}
	return printed
}

// memoryTier says what holds a limit of memory for this user here.
func memoryTier(t *testing.T) sandbox.Tier {
	t.Helper()
	for _, l := range sandbox.ObserveLimits() {
		if l.Limit == "memory" {
			return l.Tier
		}
	}
	require.Fail(t, "no limit of memory")
	return ""
}

// requireUsable says that somebody else on the machine can still start a program and write a file.
func requireUsable(t *testing.T) {
	t.Helper()
	begin := time.Now()
	require.NoError(t, exec.Command("/bin/sh", "-c", "echo x >\"$0\"", filepath.Join(t.TempDir(), "file")).Run())
	require.Less(t, time.Since(begin), 5*time.Second)
}

func TestWithoutLimitsTheBombsGoThrough(t *testing.T) {
	s := serve(t)
	assert.Equal(t, "took 100", s.attempted(memoryBomb))
	assert.Equal(t, "had 60", s.attempted(forkBomb))
	assert.Equal(t, "wrote 32", s.attempted(filler))
}

func TestAForkBombAndADiskFillerAreRefused(t *testing.T) {
	config := t.TempDir()
	require.NoError(t, os.Mkdir(config+"/kernel-launch", 0o700))
	require.NoError(t, os.WriteFile(config+"/kernel-launch/config.yaml", []byte("sandbox: {limits: {tmp: 16MiB}}\n"), 0o600))
	s := serveWith(t, []string{"XDG_CONFIG_HOME=" + config}, "--processes", "60")
	assert.Equal(t, "BlockingIOError", s.attempted(forkBomb))
	requireUsable(t)
	s.requireAlive()
	assert.Equal(t, "OSError 28", s.attempted("try:\n    "+strings.ReplaceAll(filler, "\n", "\n    ")+"\nexcept OSError as e: print('OSError', e.errno)"), "ENOSPC")
	size, exception := s.cell("print(os.path.getsize('/tmp/fill') <= 16 << 20)", nil)
	require.Empty(t, exception)
	assert.Equal(t, "True", size)
	requireUsable(t)
	s.requireAlive()

	all := s.processes()
	assert.Greater(t, len(all), 10, "the bomb's processes wait")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	assert.Empty(t, witness.Wait(all, 10*time.Second), "it can be stopped")
	assert.Equal(t, "the kernel was stopped", s.ended().Text)
}

const memoryEnd = "the kernel was ended by its memory limit of 200MiB (it used 200MiB; sandbox.limits.memory)"

// A limit of the whole sandbox ends the kernel; one of single processes, which is all that a user without cgroups has, refuses what is too much.
func TestAMemoryBomb(t *testing.T) {
	s := serve(t, "--memory", "200MiB")
	s.requireAlive()
	if memoryTier(t) == sandbox.TierRlimit {
		assert.Equal(t, "MemoryError", s.attempted(memoryBomb))
		requireUsable(t)
		s.requireAlive()
		return
	}
	go s.client.Execute(t.Context(), memoryBomb, jupyter.ExecuteOptions{})
	assert.Equal(t, 137, s.status())
	requireUsable(t)
	assert.Contains(t, s.said.String(), "kernel-launch: "+memoryEnd)

	ended := s.ended()
	require.NotNil(t, ended.Limit)
	assert.Equal(t, sandbox.LimitHit{Limit: "memory", Value: 200 << 20, Kills: ended.Limit.Kills, Peak: ended.Limit.Peak}, *ended.Limit)
	shown, err := theWorld().command("kernel", "show", ended.ID).Output()
	require.NoError(t, err)
	assert.Contains(t, string(shown), memoryEnd)
}

func TestAnEvalSaysWhichLimitEndedIt(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	out, err := w.command("eval", memoryBomb).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "took 100\n", string(out), "the control")

	cmd := w.command("eval", "--memory", "200MiB", memoryBomb)
	out, err = cmd.CombinedOutput()
	require.Error(t, err)
	if memoryTier(t) == sandbox.TierRlimit {
		assert.Equal(t, 1, cmd.ProcessState.ExitCode())
		assert.Contains(t, string(out), "MemoryError")
		return
	}
	assert.Equal(t, 125, cmd.ProcessState.ExitCode())
	assert.Contains(t, string(out), memoryEnd)
}
