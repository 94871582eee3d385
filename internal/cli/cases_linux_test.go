package cli

import (
	"encoding/json"
	"fmt"
	"io"
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

	"github.com/kernel-launch/kernel-launch/internal/cases"
	"github.com/kernel-launch/kernel-launch/internal/witness"
)

// oneCase is a row of testdata/cases/launcher.json. Fields whose shape depends on input.kind stay raw.
type oneCase struct {
	ID    string
	Input struct {
		Kind    string
		Deliver json.RawMessage
		Times   int
		Ignored []string `json:"inherited_ignored"`
	}
	Expected struct {
		Verdict       string
		SandboxAlive  bool            `json:"sandbox_alive"`
		LauncherAlive bool            `json:"launcher_alive"`
		Reaches       []bool          `json:"sigterm_reaches_kernel"`
		Grace         int             `json:"grace_s"`
		ExitCode      json.RawMessage `json:"exit_code"`
		Interruptible bool            `json:"kernel_interruptible"`
		Reported      bool            `json:"exit_status_reported"`
	}
}

func TestCases(t *testing.T) {
	cases.Run(t, "launcher.json", cases.Runners[oneCase]{"signal": interruptCase, "signal_variants": endCase, "launch": inheritedCase})
}

// counting prints each interrupt of two seconds.
const counting = `import time
print("ready", flush=True)
end = time.monotonic() + 2
while time.monotonic() < end:
    try: time.sleep(0.05)
    except KeyboardInterrupt as e: print(type(e).__name__)
`

func interruptCase(t *testing.T, row oneCase) {
	require.Equal(t, "SIGINT to the process group of kernel-launch", cases.As[string](t, row.Input.Deliver))
	s := serve(t)
	before := s.processes()
	neighbour := exec.Command("sleep", "60")
	neighbour.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: s.pid}
	require.NoError(t, neighbour.Start())
	t.Cleanup(func() { neighbour.Process.Kill() })
	quiet, exception := s.cell(counting, nil)
	require.Equal(t, "ready", quiet, "the control: nobody else interrupts it")
	require.Empty(t, exception)

	printed, exception := s.cell(counting, func(text string) {
		for range strings.Count(text, "ready") * row.Input.Times {
			assert.NoError(t, syscall.Kill(-s.pid, syscall.SIGINT))
		}
	})
	require.Equal(t, "kernel sees exactly one interrupt", row.Expected.Verdict)
	assert.Empty(t, exception)
	assert.Equal(t, "ready\nKeyboardInterrupt", printed)
	neighbour.Wait()
	assert.True(t, neighbour.ProcessState.Sys().(syscall.WaitStatus).Signaled(), "the control: the whole group was hit")
	left := witness.Living(before)
	assert.Equal(t, row.Expected.LauncherAlive, len(left) > 0 && left[0].PID == s.pid)
	assert.Equal(t, row.Expected.SandboxAlive, len(left) == len(before), "%v", left)
	s.requireAlive()
}

// saving is a kernel that needs most of its grace to save, and has a child that no signal to a group reaches.
const saving = `import os, signal, subprocess, time
def save(*_):
    time.sleep(%d)
    open("saved", "w").close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)
signal.signal(signal.SIGTERM, save)
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
`

// deliveries are how a launcher is ended, by the words of the row.
var deliveries = map[string]func(*served) error{
	"SIGTERM to kernel-launch": func(s *served) error { return s.cmd.Process.Signal(syscall.SIGTERM) },
	"SIGKILL to kernel-launch": func(s *served) error { return s.cmd.Process.Kill() },
	"server process dies":      func(s *served) error { return s.cmd.Process.Kill() },
}

func endCase(t *testing.T, row oneCase) {
	seconds := 0
	_, err := fmt.Sscanf(row.Expected.Verdict, "nothing left running after %d s in each variant", &seconds)
	require.NoError(t, err)
	codes := cases.As[[]string](t, row.Expected.ExitCode)
	for i, how := range cases.As[[]string](t, row.Input.Deliver) {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, deliveries, how)
			s := server(t, how)
			_, exception := s.cell(fmt.Sprintf(saving, row.Expected.Grace-2), nil)
			require.Empty(t, exception)
			all := s.processes()
			for end := time.Now().Add(10 * time.Second); !strings.Contains(fmt.Sprint(all), `"sleep\x00600\x00"`) && time.Now().Before(end); all = s.processes() {
				time.Sleep(10 * time.Millisecond) // a program that is just being started has no command line yet
			}
			require.Contains(t, fmt.Sprint(all), `"sleep\x00600\x00"`)
			require.NoError(t, deliveries[how](s))
			assert.Empty(t, witness.Wait(all, time.Duration(seconds)*time.Second))
			assert.Equal(t, row.Expected.Reaches[i], exists(s.folder+"/saved"))
			if codes[i] != "n/a" {
				require.Equal(t, "128+15 or the kernel's own", codes[i])
				assert.Equal(t, 128+15, s.status(), "which is the kernel's own")
			}
		})
	}
}

// server starts the kernel, below another process where that is what dies.
func server(t *testing.T, how string) *served {
	t.Helper()
	if how != "server process dies" {
		return serve(t)
	}
	s := offered(t)
	s.start(append([]string{"/bin/sh", "-c", `JPY_PARENT_PID=$$ "$@" & echo $! >pid; wait`, "sh", theWorld().launcher}, s.arguments()...)...)
	s.dial()
	b, err := os.ReadFile(s.folder + "/pid")
	require.NoError(t, err)
	s.pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
	require.NoError(t, err)
	return s
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// inherited says its ignored signals, learns a child's status, which takes SIGCHLD, and waits to be interrupted.
const inherited = `import subprocess, sys, time
ignored = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("SigIgn")), 16)
print([n for n in (2, 17) if ignored >> n - 1 & 1], subprocess.run(["sh", "-c", "exit 7"]).returncode, flush=True)
try: time.sleep(float(sys.argv[1]))
except KeyboardInterrupt: sys.exit(5)
`

// ignoring starts a program with signals ignored, which an exec does not change.
const ignoring = `import json, os, signal, sys
for name in json.loads(sys.argv[1]): signal.signal(signal.Signals[name], signal.SIG_IGN)
os.execv(sys.argv[2], sys.argv[2:])
`

func inheritedCase(t *testing.T, row oneCase) {
	w := theWorld()
	require.NoError(t, w.err)
	names, err := json.Marshal(row.Input.Ignored)
	require.NoError(t, err)
	program := filepath.Join(filepath.Dir(w.notebooks), "inherited.py")
	require.NoError(t, os.WriteFile(program, []byte(inherited), 0o644))
	ignoring := func(argv ...string) *exec.Cmd {
		cmd := exec.Command("/usr/bin/python3", append([]string{"-ISc", ignoring, string(names)}, argv...)...)
		cmd.Env, cmd.Dir = w.env, w.notebooks
		return cmd
	}
	control, err := ignoring("/usr/bin/python3", program, "0").Output()
	require.NoError(t, err)
	require.Equal(t, "[2, 17] 0\n", string(control), "the control: outside they stay ignored, and the child's status is lost")

	require.Equal(t, "launch", row.Expected.Verdict)
	cmd := ignoring(w.launcher, "run", "--read", program, "--", "python", "-ISu", program, "60")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	said := make([]byte, len("[] 7\n"))
	_, err = io.ReadFull(out, said)
	require.NoError(t, err)
	assert.Equal(t, row.Expected.Reported, string(said) == "[] 7\n", "%s", said)
	interrupted(t, cmd, row.Expected.Interruptible)
}

// interrupted sends one SIGINT to a launcher and wants the program's answer to it as the launcher's status.
func interrupted(t *testing.T, cmd *exec.Cmd, want bool) {
	t.Helper()
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	limit := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer limit.Stop()
	cmd.Wait()
	assert.Equal(t, want, cmd.ProcessState.ExitCode() == 5, "%v", cmd.ProcessState)
}
