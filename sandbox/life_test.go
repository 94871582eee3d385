//go:build linux

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// probeStart is a launcher to be killed: it runs a probe in a sandbox and waits. Descriptor 3 inside is a pipe whose
// other end is the launcher's alone, 4 is /dev/null.
func probeStart(args []string) int {
	var p Policy
	if err := json.Unmarshal([]byte(args[0]), &p); err != nil {
		fmt.Println(err)
		return 1
	}
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer w.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	plan, err := Default().Plan(p)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	process, err := Default().Start(context.Background(), plan, Command{
		Argv: append([]string{HelperTarget, "probe"}, args[1:]...), Files: []*os.File{r, null}, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	process.Wait()
	return 0
}

func marker(t *testing.T) string { return fmt.Sprintf("marker-%s-%d", t.Name(), os.Getpid()) }

func requireGone(t *testing.T, marker string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(withMarker(t, marker)) == 0 }, time.Minute, 5*time.Millisecond, "%v", withMarker(t, marker))
}

func TestAllEndsWithTheProcessThatStartedIt(t *testing.T) {
	w := newWorld(t)
	policy, err := json.Marshal(w.policy)
	require.NoError(t, err)
	cmd := exec.Command(w.policy.Helper, "probe", "start", string(policy), "daemon", marker(t))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ok\n", line)
	require.GreaterOrEqual(t, len(withMarker(t, marker(t))), 4, "launcher, bwrap, process 1, its daemon")
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	requireGone(t, marker(t))
}

// While bwrap builds the walls its child does not follow its death yet: a launcher killed then leaves what reads from a
// descriptor of the launcher, and so ends by itself. This is why process 1 inside has to watch one. The test begins where
// the child has bwrap's go-ahead, for which it would wait for ever.
func TestAWatchingCommandEndsWheneverItsLauncherIsKilled(t *testing.T) {
	w := newWorld(t)
	policy, err := json.Marshal(w.policy)
	require.NoError(t, err)
	for i := range 20 {
		word := fmt.Sprintf("%s-%d-", marker(t), i)
		cmd := exec.Command(w.policy.Helper, "probe", "start", string(policy), "echo", word)
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { return anyMapped(t, word) }, 10*time.Second, 100*time.Microsecond)
		time.Sleep(time.Duration(i) * 500 * time.Microsecond) // the moment is what the test varies
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		requireGone(t, word)
	}
}

// anyMapped reports whether a process with the word has its users mapped, which bwrap's child does first.
func anyMapped(t *testing.T, word string) bool {
	own, err := os.ReadFile("/proc/self/uid_map")
	require.NoError(t, err)
	for _, pid := range withMarker(t, word) {
		dir, _, _ := strings.Cut(pid, "/cmdline")
		if m, err := os.ReadFile(dir + "/uid_map"); err == nil && len(m) > 0 && !bytes.Equal(m, own) {
			return true
		}
	}
	return false
}

func TestSignalsThatEditorsSendDoNotHurt(t *testing.T) {
	w := newWorld(t)
	c := w.converse(t.Context(), marker(t))
	c.alive("first")
	require.Eventually(t, func() bool { return c.p.Pid() > 0 }, time.Minute, time.Millisecond)
	bwrap, err := parentOf(c.p.Pid())
	require.NoError(t, err)
	for _, s := range blocked {
		require.NoError(t, unix.Kill(bwrap, s))
		require.NoError(t, unix.Kill(-bwrap, s))
	}
	pending := statusBits(t, bwrap, "ShdPnd")
	for _, s := range blocked {
		require.NotZero(t, pending&(1<<(uint(s)-1)), "%v waits for ever", s)
	}
	c.alive("second")
	require.NoError(t, unix.Kill(bwrap, unix.SIGKILL), "the control: an unblocked signal ends it")
	<-c.p.Done()
	requireGone(t, marker(t))
}

func statusBits(t *testing.T, pid int, field string) uint64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(data), "\n"+field+":\t")
	require.True(t, found, "%s", data)
	line, _, _ := strings.Cut(rest, "\n")
	bits, err := strconv.ParseUint(line, 16, 64)
	require.NoError(t, err)
	return bits
}

func TestWhatTheHostSeesOfBwrap(t *testing.T) {
	w := newWorld(t)
	c := w.converse(t.Context(), marker(t))
	c.alive("here")
	require.Eventually(t, func() bool { return c.p.Pid() > 0 }, time.Minute, time.Millisecond)
	bwrap, err := parentOf(c.p.Pid())
	require.NoError(t, err)
	group, err := unix.Getpgid(bwrap)
	require.NoError(t, err)
	require.Equal(t, bwrap, group)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.p.Pid()))
	require.NoError(t, err)
	require.Contains(t, string(status), fmt.Sprintf("NSpid:\t%d\t1\n", c.p.Pid()), "it is process 1 inside")
	session, err := unix.Getsid(c.p.Pid())
	require.NoError(t, err)
	require.Equal(t, c.p.Pid(), session)
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", bwrap))
	require.NoError(t, err)
	require.Empty(t, environ)
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", bwrap))
	require.NoError(t, err)
	require.NotContains(t, string(line), w.base, "options stay out of what every user can list")
}

func TestKillEndsEverythingAtAnyMoment(t *testing.T) {
	w := newWorld(t)
	plan := w.plan()
	for i := range 25 {
		p, err := Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "daemon", marker(t)}})
		require.NoError(t, err)
		time.Sleep(time.Duration(i) * 500 * time.Microsecond) // the moment is what the test varies
		require.NoError(t, p.Kill())
		<-p.Done()
		require.Error(t, p.Wait())
		require.Empty(t, withMarker(t, marker(t)), "after %d × 0.5 ms", i)
		require.NoError(t, p.Kill(), "a second kill hits nobody")
	}
}

func TestTheContextEndsIt(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := w.converse(ctx, marker(t))
	c.alive("here")
	cancel()
	<-c.p.Done()
	require.Error(t, c.p.Wait())
	requireGone(t, marker(t))
}

func TestItOutlivesTheThreadThatAskedForIt(t *testing.T) {
	w := newWorld(t)
	var c *conversation
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		runtime.LockOSThread() // not unlocked: the thread ends here
		c = w.converse(t.Context(), marker(t))
	}()
	<-asked
	time.Sleep(300 * time.Millisecond) // a death signal would come some time after the thread's end; nothing else tells
	c.alive("still here")
}

func TestExitStatusIsPassedOn(t *testing.T) {
	w := newWorld(t)
	_, err := w.try(w.plan(), "exit")
	require.NoError(t, err)
	_, err = w.try(w.plan(), "exit", "a", "b", "c")
	var status *exec.ExitError
	require.ErrorAs(t, err, &status)
	require.Equal(t, 3, status.ExitCode())
}

func TestProbe(t *testing.T) {
	require.NoError(t, Default().Probe(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var e *UnavailableError
	require.ErrorAs(t, Default().Probe(ctx), &e)
	require.Equal(t, CauseUnknown, e.Cause)
	require.ErrorIs(t, e, context.Canceled)
}

func TestASandboxInASandboxIsClassified(t *testing.T) {
	w := newWorld(t)
	text := w.inside("nested")
	e := Classify(text, "", ObserveMachine())
	require.NotNil(t, e, "%s", text)
	require.Equal(t, CauseUsernsRefused, e.Cause)
	require.NotEmpty(t, e.Remedy)
}

func TestStartRefuses(t *testing.T) {
	w := newWorld(t)
	plan := w.plan()
	_, err := Default().Start(t.Context(), plan, Command{Argv: []string{"relative"}})
	require.ErrorContains(t, err, "absolute")
	plan.Program = ""
	var e *UnavailableError
	_, err = Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget}})
	require.ErrorAs(t, err, &e)
	require.Equal(t, CauseMissing, e.Cause)
	plan.Program = w.base + "/no-such-bwrap"
	_, err = Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget}})
	require.ErrorAs(t, err, &e)
	require.Equal(t, CauseMissing, e.Cause)
	plan.Backend = "seatbelt"
	_, err = Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget}})
	require.ErrorContains(t, err, "seatbelt")
}

func TestACommandThatIsNotThereIsNoFaultOfTheBackend(t *testing.T) {
	w := newWorld(t)
	text, err := runOnce(t.Context(), w.plan(), "/no/such/command")
	require.Error(t, err)
	require.Contains(t, text, "execvp")
	require.Nil(t, Classify(text, "", Machine{}))
	var status *exec.ExitError
	require.True(t, errors.As(err, &status))
	require.False(t, strings.Contains(text, "\x00"))
}
