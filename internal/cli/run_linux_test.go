package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/witness"
)

// person sits at a terminal in which a command runs.
type person struct {
	witness.Output // what is on the screen

	t        testing.TB
	keyboard *os.File
	tty      int
	cmd      *exec.Cmd
}

// sit starts kernel-launch at a terminal of 31 lines and 101 columns.
func sit(t testing.TB, args ...string) *person {
	t.Helper()
	w := theWorld()
	require.NoError(t, w.err)
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { tty.Close() })
	p := &person{t: t, keyboard: os.NewFile(uintptr(fd), "ptmx"), tty: int(tty.Fd()), cmd: w.command(args...)}
	t.Cleanup(func() { p.keyboard.Close() })
	p.resize(31, 101)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { p.cmd.Process.Kill() })
	go io.Copy(p, p.keyboard)
	return p
}

func (p *person) resize(rows, cols uint16) {
	require.NoError(p.t, unix.IoctlSetWinsize(p.tty, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}))
}

func (p *person) sees(text string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return strings.Contains(p.String(), text) }, time.Minute, 10*time.Millisecond, "no %q on the screen", text)
}

func (p *person) types(keys string) {
	_, err := io.WriteString(p.keyboard, keys)
	require.NoError(p.t, err)
}

// cooked reports whether the terminal echoes and makes signals of keys, as a shell needs it.
func (p *person) cooked() bool {
	s, err := unix.IoctlGetTermios(p.tty, unix.TCGETS)
	require.NoError(p.t, err)
	return s.Lflag&(unix.ECHO|unix.ICANON|unix.ISIG) == unix.ECHO|unix.ICANON|unix.ISIG
}

func (p *person) status() int {
	p.cmd.Wait()
	state := p.cmd.ProcessState
	if ws := state.Sys().(syscall.WaitStatus); ws.Signaled() {
		return -int(ws.Signal())
	}
	return state.ExitCode()
}

func TestAPersonGetsATerminal(t *testing.T) {
	p := sit(t, "run", "--", "sh", "-c", "tty; stty size; read x; echo got $x; while stty size | grep -q 101; do sleep 0.05; done; stty size; exit 7")
	p.sees("31 101")
	assert.Contains(t, p.String(), "/dev/pts/0", "its own, the first of its own devices")
	assert.False(t, p.cooked(), "the control: keys go through as they are")
	p.resize(40, 120)
	p.types("hello\r")
	p.sees("got hello")
	p.sees("40 120")
	assert.Equal(t, 7, p.status())
	assert.True(t, p.cooked(), "the terminal is as it was")
}

func TestKeysAreForTheTerminalInside(t *testing.T) {
	p := sit(t, "run", "--", "sh", "-c", "trap 'echo interrupted; exit 9' INT; echo ready; while :; do sleep 0.05; done")
	p.sees("ready")
	p.types("\x03")
	p.sees("interrupted")
	assert.Equal(t, 9, p.status())
	assert.Equal(t, 1, strings.Count(p.String(), "interrupted"))
}

func TestTheTerminalIsGivenBackWhateverEndsIt(t *testing.T) {
	for name, end := range map[string]func(p *person){
		"a signal to the launcher": func(p *person) { p.cmd.Process.Signal(syscall.SIGTERM) },
		"the screen's end":         func(p *person) { p.cmd.Process.Signal(syscall.SIGHUP) },
		"a key":                    func(p *person) { p.types("\x1c") },
	} {
		p := sit(t, "run", "--", "sleep", "100")
		require.Eventually(t, func() bool { return !p.cooked() }, time.Minute, 5*time.Millisecond, name)
		time.Sleep(200 * time.Millisecond) // a signal that comes before the program runs is for the start
		end(p)
		assert.Greater(t, p.status(), 128, name)
		assert.True(t, p.cooked(), name)
	}
}

func TestACommandCanBeSuspended(t *testing.T) {
	p := sit(t, "run", "--", "sh", "-c", "echo ready; read x; echo got $x")
	p.sees("ready")
	require.Eventually(t, func() bool { return !p.cooked() }, time.Minute, 5*time.Millisecond)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTSTP))
	require.Eventually(t, func() bool { return p.cooked() && stopped(p.cmd.Process.Pid) }, time.Minute, 5*time.Millisecond)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
	require.Eventually(t, func() bool { return !p.cooked() }, time.Minute, 5*time.Millisecond)
	p.types("on\r")
	p.sees("got on")
	assert.Zero(t, p.status())
	assert.True(t, p.cooked())
}

func stopped(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && bytes.HasPrefix(b[bytes.LastIndexByte(b, ')')+1:], []byte(" T"))
}

func TestASignalReachesACommandOnce(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		cmd := w.command("run", "--", "python", "-uISc", fmt.Sprintf(`import signal, time
n = 0
def count(*_):
    global n
    n += 1
signal.signal(%d, count)
print("ready")
end = time.monotonic() + 1
while time.monotonic() < end: time.sleep(0.05)
print("times", n)`, sig))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		ready := make([]byte, 6)
		_, err = io.ReadFull(out, ready)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(-cmd.Process.Pid, sig))
		rest, err := io.ReadAll(out)
		require.NoError(t, err)
		assert.Equal(t, "times 1\n", string(rest), "%v to the launcher's whole group", sig)
		require.NoError(t, cmd.Wait())
	}
}

func TestAReaderThatHasGoneEndsAPipeline(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	cmd := w.command("run", "--", "yes")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, 4))
	require.NoError(t, err)
	require.NoError(t, out.Close())
	cmd.Wait()
	assert.Equal(t, 141, cmd.ProcessState.ExitCode(), "as yes itself: 128 + SIGPIPE")
}

func TestOutputThatNobodyTakesDoesNotKeepItFromBeingStopped(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	r, out, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer out.Close()
	fd := int(out.Fd()) // asking for it makes it blocking
	require.NoError(t, unix.SetNonblock(fd, true))
	unix.Write(fd, make([]byte, 1<<20)) // as much as fits
	require.NoError(t, unix.SetNonblock(fd, false))
	cmd := w.command("run", "--", "sh", "-c", "echo ready >&2; echo out")
	cmd.Stdout = out
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(said, make([]byte, 6))
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		t.Fatal("it ended with output that nobody has read")
	case <-time.After(500 * time.Millisecond):
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("it did not end")
	}
}
