package inner

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// desk is a jail whose program has a terminal, and what is typed there.
type desk struct {
	*jail
	keys *os.File
}

func seated(t *testing.T, argv ...string) *desk {
	t.Helper()
	in, keys, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { keys.Close() })
	d := &desk{jailedWith(t, in), keys}
	in.Close()
	require.NoError(t, d.Start(short(t), link.Order{
		Argv: argv, Env: []string{"PATH=/usr/bin:/bin", "TERM=xterm", "PS1=?> "}, Dir: "/run", Terminal: &link.Terminal{Rows: 33, Cols: 101},
	}))
	return d
}

func (d *desk) types(t *testing.T, text string) {
	t.Helper()
	_, err := d.keys.WriteString(text)
	require.NoError(t, err)
}

func TestTheProgramHasATerminalOfItsOwn(t *testing.T) {
	out, exit := seated(t, "/usr/bin/python3", "-ISc", `import os
print([os.isatty(n) for n in range(3)], os.ttyname(0), os.get_terminal_size(0))
print(os.getsid(0) == os.getpid(), os.tcgetpgrp(0) == os.getpgrp(), os.open('/dev/tty', os.O_RDWR) > 2)
print(sorted(os.listdir('/proc/self/fd'))[:4], os.readlink('/proc/self/fd/2'))
os._exit(9)`).wait(t)
	// Descriptor 3 is the /dev/tty that was opened above.
	assert.Equal(t, strings.ReplaceAll(`[True, True, True] /dev/pts/0 os.terminal_size(columns=101, lines=33)
True True True
['0', '1', '2', '3'] /dev/pts/0`, "\n", "\r\n"), out)
	assert.Equal(t, link.Exit{Status: 9}, exit)
}

func TestATerminalIsResized(t *testing.T) {
	d := seated(t, "/usr/bin/python3", "-uISc", `import os, signal, time
signal.signal(signal.SIGWINCH, lambda *_: print('size', *os.get_terminal_size(0), flush=True))
print('ready')
end = time.time() + 20
while time.time() < end: time.sleep(.01)`)
	d.says(t, "ready")
	require.NoError(t, d.Resize(50, 200))
	d.says(t, "size 200 50\r\n")
	require.NoError(t, d.Resize(20, 70))
	d.says(t, "size 70 20\r\n")

	j := jailed(t)
	require.NoError(t, j.start(t, "/bin/sh", "-c", "sleep .2; exit 4"))
	require.NoError(t, j.Resize(20, 70))
	_, exit := j.wait(t)
	assert.Equal(t, link.Exit{Status: 4}, exit, "without a terminal nothing happens")
}

// asks waits for the shell's nth prompt: what is typed before can be thrown away with a job.
func (d *desk) asks(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Count(d.out.String(), "?> ") == n }, time.Minute, 2*time.Millisecond, "%v", d.out)
}

// job says its name when it can be hit. It blocks the signal that it then takes: one that came between its words and its sleep would be lost on it.
func job(name string) string {
	return "/usr/bin/python3 -ISc 'import signal as s, sys; s.pthread_sigmask(0, [2]); print(\"job\", \"" + name + "\", flush=True); s.sigwait([2]); sys.exit(77)'\n"
}

func TestKeysReachTheJobInTheForeground(t *testing.T) {
	d := seated(t, "/bin/bash", "--norc", "--noprofile", "--noediting", "-i")
	d.asks(t, 1)
	d.types(t, job("one"))
	d.says(t, "job one")
	d.types(t, "\x03") // the key for an interrupt
	d.asks(t, 2)
	d.types(t, "echo status $?\n")
	d.says(t, "status 77")
	d.asks(t, 3)
	d.types(t, job("two"))
	d.says(t, "job two")
	require.NoError(t, d.Signal(int(syscall.SIGINT))) // the same from outside
	d.asks(t, 4)
	d.types(t, job("three"))
	d.says(t, "job three")
	d.types(t, "\x1a") // the key that stops a job
	d.says(t, "Stopped")
	d.asks(t, 5)
	d.types(t, "kill -9 %1; fg; exit 6\n")
	_, exit := d.wait(t)
	assert.Equal(t, link.Exit{Status: 6}, exit)
}

func TestTheEndOfTheInputIsTyped(t *testing.T) {
	for typed, want := range map[string]string{"one\ntwo\n": "8 lines", "one\ntw": "6 lines", "": "0 lines"} {
		d := seated(t, "/usr/bin/python3", "-uISc", "import sys; print('ready'); print(len(sys.stdin.read()), 'lines')")
		d.says(t, "ready")
		d.types(t, typed)
		require.NoError(t, d.keys.Close())
		out, exit := d.wait(t)
		assert.Zero(t, exit.Status)
		assert.Contains(t, out, want, "%q", typed)
	}
}

func TestAllThatTheProgramWroteArrives(t *testing.T) {
	for range 3 {
		out, exit := seated(t, "/usr/bin/python3", "-uISc", "import sys; sys.stdout.write('x' * 300_000 + 'end')").wait(t)
		assert.Zero(t, exit.Status)
		assert.Equal(t, 300_003, len(out))
		assert.True(t, strings.HasSuffix(out, "xend"))
	}
}

// The daemon holds the terminal, ignores its end and, in the second case, writes for ever.
func TestAnOrphanWithTheTerminalDoesNotHoldTheEndUp(t *testing.T) {
	for name, does := range map[string]string{"silent": "time.sleep(300)", "noisy": "\n        while True: os.write(1, b'x' * 4096)"} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			out, exit := seated(t, "/usr/bin/python3", "-uISc", `import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
print('words')
if os.fork() == 0:
    os.setsid()
    try: `+does+`
    except OSError: time.sleep(300)
time.sleep(.3)
os._exit(3)`).wait(t)
			assert.Equal(t, link.Exit{Status: 3}, exit)
			assert.Contains(t, out, "words")
			assert.Less(t, time.Since(begin), 10*time.Second)
		})
	}
}

func TestATerminalMayBeClosedAndOpenedAgain(t *testing.T) {
	out, exit := seated(t, "/bin/sh", "-c", "exec <&- >&- 2>&-; sleep .3; exec >/dev/pts/0; echo again").wait(t)
	assert.Zero(t, exit.Status)
	assert.Equal(t, "again", out)
}

func TestATerminalAndLimitsTogether(t *testing.T) {
	in, keys, err := os.Pipe()
	require.NoError(t, err)
	defer keys.Close()
	j := jailedWith(t, in)
	in.Close()
	require.NoError(t, j.Start(short(t), link.Order{
		Argv: []string{"/bin/sh", "-c", "tty; stty size; ulimit -d; ln -s / x 2>&1"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/run",
		Terminal: &link.Terminal{Rows: 5, Cols: 6}, Rlimits: []link.Rlimit{{Name: "data", Value: 1 << 30}}, Landlock: &link.Landlock{RefuseLinks: true},
	}))
	out, _ := j.wait(t)
	assert.Equal(t, "/dev/pts/0\r\n5 6\r\n1048576\r\nln: failed to create symbolic link 'x': Permission denied", out)
}
