package launcher

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
	"github.com/kernel-launch/kernel-launch/jupyter"
)

func TestAKernelComputesIsInterruptedAndRestartsInPlace(t *testing.T) {
	run, env := runtimeDir(t)
	k := launch(t, Spec{Environ: append(os.Environ(), env)})
	c := dial(t, k)
	out, exception := cell(t, c, "x = 1\nprint(6 * 7)")
	require.Nil(t, exception)
	assert.Equal(t, "42", out)

	out, exception = interrupted(t, k)
	require.Nil(t, exception)
	assert.Equal(t, "1", out, "a cell that is hit twice loses its reply")
	require.NoError(t, k.Interrupt(), "an idle kernel is not hurt")

	ports, process := k.Connection().Ports(), tree(t, os.Getpid())
	require.NoError(t, k.Restart(within(t, time.Minute)))
	assert.Equal(t, ports, k.Connection().Ports())
	assert.Equal(t, Running, k.State())
	_, exception = cell(t, dial(t, k), "x")
	require.NotNil(t, exception)
	assert.Equal(t, "NameError", exception.Name)
	requireGone(t, process[1:])

	all, err := Kernels(k.Plan().host.dirs)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, k.ID(), all[0].ID)
	assert.Equal(t, Running, all[0].State)
	after := tree(t, os.Getpid())
	assert.Equal(t, ReasonStopped, k.Kill().Reason)
	requireGone(t, after[1:])
	left, err := os.ReadDir(run + "/kernel-launch/kernels")
	require.NoError(t, err)
	assert.Empty(t, left, "the record, its lock and its socket")
	assert.ErrorIs(t, k.Restart(t.Context()), ErrEnded)
	for _, p := range ports {
		_, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", itoa(p)))
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	}
}

// interrupted counts the KeyboardInterrupts of one Interrupt.
func interrupted(t *testing.T, k *Kernel) (string, *jupyter.Exception) {
	t.Helper()
	c := dial(t, k)
	time.AfterFunc(time.Second, func() { k.Interrupt() })
	return cell(t, c, "import time\nn, end = 0, time.time() + 2.5\nwhile time.time() < end:\n  try: time.sleep(.05)\n  except KeyboardInterrupt: n += 1\nprint(n)")
}

func TestHowAKernelEndsIsPassedOn(t *testing.T) {
	for _, c := range []struct {
		code   string
		reason Reason
		status int
		signal syscall.Signal
	}{
		{"import os; os._exit(7)", ReasonExited, 7, 0},
		{"import os; os.kill(os.getpid(), 9)", ReasonSignal, 137, syscall.SIGKILL},
		{"import ctypes; ctypes.string_at(0)", ReasonSignal, 139, syscall.SIGSEGV},
	} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			k := launch(t, Spec{})
			client := dial(t, k)
			ctx, cancel := context.WithCancel(within(t, time.Minute))
			go func() { <-k.Done(); cancel() }()
			client.Execute(ctx, c.code, jupyter.ExecuteOptions{})
			exit := k.Wait()
			assert.Equal(t, c.reason, exit.Reason)
			assert.Equal(t, c.status, exit.Code)
			assert.Equal(t, int(c.signal), exit.Signal)
		})
	}
}

func TestWhatAFolderHoldsDeepInsideIsTold(t *testing.T) {
	dir := folder(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "b", "one"), nil, 0o600))
	require.NoError(t, os.Link(filepath.Join(dir, "a", "b", "one"), filepath.Join(folder(t), "other")))
	said := &witness.Output{}
	launch(t, Spec{Folder: dir, Stderr: said})
	require.Eventually(t, func() bool { return strings.Contains(said.String(), "another name elsewhere") }, time.Minute, 10*time.Millisecond)
	assert.Contains(t, said.String(), "kernel-launch: ")
}

func TestStopAsksFirst(t *testing.T) {
	t.Parallel()
	var out witness.Output
	k := launch(t, Spec{Stdout: &out, Command: []string{
		systemPython, "-uISc",
		"import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: (print('saved'), sys.exit(3)))\nprint('ready')\ntime.sleep(60)",
	}})
	requireSays(t, &out, "ready")
	exit := k.Stop(t.Context())
	assert.Equal(t, ReasonExited, exit.Reason)
	assert.Equal(t, 3, exit.Code)
	assert.Contains(t, out.String(), "saved")
}

func TestAKernelThatDoesNotWantToStopHasFiveSeconds(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"all of them": stopGrace, "or what ctx has": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out witness.Output
			k := launch(t, Spec{Stdout: &out, Command: []string{
				systemPython, "-uISc",
				"import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready')\ntime.sleep(60)",
			}})
			requireSays(t, &out, "ready")
			begin, ctx := time.Now(), context.Background()
			if limit < stopGrace {
				ctx = within(t, limit)
			}
			exit := k.Stop(ctx)
			assert.Equal(t, ReasonStopped, exit.Reason)
			assert.GreaterOrEqual(t, time.Since(begin), limit-100*time.Millisecond)
			assert.Less(t, time.Since(begin), limit+2500*time.Millisecond)
		})
	}
}

func TestKillDoesNotAsk(t *testing.T) {
	var out witness.Output
	k := launch(t, Spec{Stdout: &out, Command: []string{systemPython, "-uISc", daemon + "print('ready')\ntime.sleep(60)"}})
	requireSays(t, &out, "ready")
	all := tree(t, os.Getpid())[1:]
	require.GreaterOrEqual(t, len(all), 4, "bwrap, process 1, the program, its daemon")
	begin := time.Now()
	assert.Equal(t, ReasonStopped, k.Kill().Reason)
	assert.Less(t, time.Since(begin), stopGrace/2)
	requireGone(t, all)
	assert.Equal(t, k.Wait(), k.Kill(), "a second time changes nothing")
}

func requireSays(t testing.TB, out fmt.Stringer, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), text) }, time.Minute, 5*time.Millisecond)
}

func TestAProgramThatCannotBeStarted(t *testing.T) {
	dir := folder(t)
	require.NoError(t, os.WriteFile(dir+"/notes.txt", []byte("not a program"), 0o644))
	for _, c := range []struct {
		program string
		status  int
		problem string
	}{
		{"no-such-program", 127, "no-such-program is not there"},
		{"/usr/bin/no-such-program", 127, "is not there"},
		{dir + "/notes.txt", 126, "notes.txt cannot be executed"},
	} {
		_, err := try(t, Spec{Folder: dir, Command: []string{c.program}})
		var failed *ProgramError
		require.ErrorAs(t, err, &failed, c.program)
		assert.Equal(t, c.status, failed.Status)
		assert.Equal(t, "exec", failed.Stage)
		assert.Equal(t, c.program, failed.Command)
		assert.Contains(t, err.Error(), c.problem)
	}
	assert.Empty(t, witness.Living(tree(t, os.Getpid())[1:]), "the sandboxes ended with it")
}

func TestACommandsStatusAndSignalArePassedOn(t *testing.T) {
	out, exit := python(t, Spec{}, "print('hi'); raise SystemExit(5)")
	assert.Equal(t, "hi", out)
	assert.Equal(t, Exit{Reason: ReasonExited, Code: 5}, exit)
	_, exit = python(t, Spec{}, "import sys; sys.exit('last \x1b[31mwords')")
	assert.Equal(t, Exit{Reason: ReasonExited, Code: 1, Output: `last \x1b[31mwords` + "\n"}, exit)
	_, exit = python(t, Spec{}, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
	assert.Equal(t, Exit{Reason: ReasonSignal, Code: 143, Signal: 15}, exit)
}
