package inner

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/internal/witness"
)

// jail is this test program as pid 1 of a plain sandbox, and the launcher's end of its control socket.
type jail struct {
	*link.Handoff
	cmd *exec.Cmd
	end chan struct{}
	out *witness.Output
}

func jailed(t *testing.T, options ...string) *jail { return jailedWith(t, nil, options...) }

// jailedWith gives the sandbox an input and more options of bwrap's.
func jailedWith(t *testing.T, stdin *os.File, options ...string) *jail {
	t.Helper()
	ours, theirs, err := link.Pair()
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	j := &jail{end: make(chan struct{}), out: &witness.Output{}}
	args := append([]string{"--unshare-all", "--as-pid-1", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"}, options...)
	j.cmd = exec.Command("bwrap", append(args, self, Word)...)
	if stdin != nil {
		j.cmd.Stdin = stdin
	}
	j.cmd.ExtraFiles = []*os.File{theirs}
	j.cmd.Stdout, j.cmd.Stderr = j.out, j.out
	require.NoError(t, j.cmd.Start())
	theirs.Close()
	j.Handoff = link.NewHandoff(ours)
	go func() { defer close(j.end); j.cmd.Wait() }()
	t.Cleanup(func() { j.cmd.Process.Kill(); j.Close(); <-j.end })
	require.NoError(t, j.Hello(short(t)), j.out)
	return j
}

func short(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func (j *jail) start(t *testing.T, argv ...string) error {
	t.Helper()
	return j.Start(short(t), link.Order{Argv: argv, Env: []string{"PATH=/usr/bin:/bin", "A=b"}, Dir: "/run"})
}

// python runs code until it ends, and returns what it printed and how it ended.
func (j *jail) python(t *testing.T, code string) (string, link.Exit) {
	t.Helper()
	require.NoError(t, j.start(t, "/usr/bin/python3", "-uISc", code))
	return j.wait(t)
}

func (j *jail) wait(t *testing.T) (string, link.Exit) {
	t.Helper()
	select {
	case <-j.end:
	case <-time.After(20 * time.Second):
		t.Fatal("the sandbox does not end: " + j.out.String())
	}
	<-j.Done()
	exit, _ := j.Exit()
	require.NotNil(t, exit, j.out)
	return strings.TrimSpace(j.out.String()), *exit
}

func (j *jail) says(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(j.out.String(), text) }, time.Minute, 2*time.Millisecond, "%v", j.out)
}

func TestTheEndOfTheProgramIsPassedOn(t *testing.T) {
	out, exit := jailed(t).python(t, "import os; print(os.getcwd(), sorted(os.environ)); os._exit(7)")
	assert.Equal(t, link.Exit{Status: 7}, exit)
	assert.Contains(t, out, "/run ['A', ")
	_, exit = jailed(t).python(t, "import os; os.kill(os.getpid(), 9)")
	assert.Equal(t, link.Exit{Signal: 9}, exit)
}

func TestTheEndOfTheProgramIsTheEndOfAll(t *testing.T) {
	j := jailed(t)
	_, exit := j.python(t, "import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True)")
	assert.Zero(t, exit.Status) // the daemon holds the output open: that the sandbox ended says that it is gone
}

func TestTheProgramHasTheStandardDescriptorsAlone(t *testing.T) {
	out, _ := jailed(t).python(t, "import os; print([n for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n)])")
	assert.Equal(t, "['0', '1', '2']", out)
}

func TestOrphansAreReaped(t *testing.T) {
	out, _ := jailed(t).python(t, `import os, time
def states():
    found = []
    for p in os.listdir('/proc'):
        if p.isdigit():
            try: found.append(open(f'/proc/{p}/stat').read().rpartition(')')[2].split()[:2])
            except OSError: pass
    return found
for _ in range(1000):
    p = os.fork()
    if p == 0:
        if os.fork() == 0: os._exit(3)
        os._exit(0)
    os.waitpid(p, 0)
end = time.time() + 10
while len(states()) > 2 and time.time() < end: time.sleep(.01)
print(len(states()), sum(s == 'Z' for s, _ in states()))`)
	assert.Equal(t, "2 0", out, "pid 1 and the program")
}

func TestTheEndOfTheControlSocketEndsAll(t *testing.T) {
	j := jailed(t)
	require.NoError(t, j.start(t, "/usr/bin/python3", "-uISc", "import os, signal, time\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except OSError: pass\nif os.fork() == 0: os.setsid()\nprint('ready')\ntime.sleep(300)"))
	j.says(t, "ready")
	require.NoError(t, j.Close())
	select {
	case <-j.end: // bwrap, whose output the daemon would hold open
	case <-time.After(5 * time.Second):
		t.Fatal("something goes on")
	}
}

func TestTheEndOfTheControlSocketBeforeAnOrderEndsAll(t *testing.T) {
	j := jailed(t)
	require.NoError(t, j.Close())
	select {
	case <-j.end:
	case <-time.After(5 * time.Second):
		t.Fatal("pid 1 goes on")
	}
}

func TestOrdersThatCannotBeCarriedOut(t *testing.T) {
	noise := filepath.Join(folder(t), "noise")
	require.NoError(t, os.WriteFile(noise, []byte("\x00\x01 no program"), 0o755))
	limits := []link.Rlimit{{Name: "data", Value: 1 << 40}}
	for name, c := range map[string]struct {
		order  link.Order
		stage  string
		status int
		text   string
	}{
		"no program":            {link.Order{Dir: "/"}, "order", 125, "names no program"},
		"a folder that is not":  {link.Order{Argv: []string{"/bin/true"}, Dir: "/gone"}, "folder", 125, "/gone"},
		"a file that exists":    {link.Order{Argv: []string{"/bin/true"}, Dir: "/", Files: []link.File{{Path: "/run/x", Mode: 0o600}, {Path: "/run/x", Mode: 0o600}}}, "files", 125, "/run/x"},
		"a program that is not": {link.Order{Argv: []string{"/gone"}, Dir: "/"}, "exec", 127, "/gone is not there"},
		"a file for a program":  {link.Order{Argv: []string{"/etc/passwd"}, Dir: "/"}, "exec", 126, "/etc/passwd cannot be executed"},
		"no program at all":     {link.Order{Argv: []string{noise}, Dir: "/"}, "exec", 126, noise + ": exec format error"},
		"the same with limits":  {link.Order{Argv: []string{noise}, Dir: "/", Rlimits: limits}, "exec", 126, noise + ": exec format error"},
	} {
		t.Run(name, func(t *testing.T) {
			err := jailed(t).Start(short(t), c.order)
			var failed *link.FailedError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, c.stage, failed.Stage)
			assert.Equal(t, c.status, failed.Status)
			assert.Contains(t, failed.Text, c.text)
		})
	}
}

func TestFilesOfTheOrderAreThereWithTheirModes(t *testing.T) {
	j := jailed(t)
	require.NoError(t, j.Start(short(t), link.Order{
		Argv: []string{"/bin/sh", "-c", "stat -c %a /run/c.json; cat /run/c.json"}, Env: []string{"PATH=/usr/bin"}, Dir: "/",
		Files: []link.File{{Path: "/run/c.json", Mode: 0o600, Data: []byte("{}\n")}},
	}))
	out, _ := j.wait(t)
	assert.Equal(t, "600\n{}", out)
}

func TestADialIsHeldUntilTheProgramListens(t *testing.T) {
	j := jailed(t)
	require.NoError(t, j.start(t, "/usr/bin/python3", "-uISc", "import socket, time\ntime.sleep(.3)\ns = socket.create_server(('127.0.0.1', 7000))\nwhile True:\n    c, a = s.accept()\n    c.sendall((a[0] + ' ' + c.recv(100).decode()).encode())\n    c.close()"))
	c, err := j.Dial(short(t), 7000)
	require.NoError(t, err)
	defer c.Close()
	fmt.Fprint(c, "hello")
	b, err := io.ReadAll(c)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.2 hello", string(b))

	limited, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = j.Dial(limited, 7001)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	c, err = j.Dial(short(t), 7000)
	require.NoError(t, err, "a dial that was given up takes nothing along")
	c.Close()
}

func TestAListenerOfOursIsReachedFromInside(t *testing.T) {
	j := jailed(t)
	l, err := j.Listen(short(t), 3128)
	require.NoError(t, err)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			fmt.Fprint(c, "from outside")
			c.Close()
		}
	}()
	_, err = j.Listen(short(t), 3128)
	require.ErrorContains(t, err, "address already in use")
	_, err = net.DialTimeout("tcp", "127.0.0.1:3128", time.Second)
	require.ErrorIs(t, err, syscall.ECONNREFUSED, "it is not the host's")
	out, exit := j.python(t, "import socket; print(socket.create_connection(('127.0.0.1', 3128), 5).recv(100).decode())")
	assert.Zero(t, exit.Status)
	assert.Equal(t, "from outside", out)
}

const counting = `import os, signal, sys, time
n = 0
def hit(*_):
    global n
    n += 1
signal.signal(signal.SIGINT, hit)
print('ready')
end = time.time() + 1
while time.time() < end: time.sleep(.02)
print('hits', n)`

func TestSignalsReachTheProgramsGroup(t *testing.T) {
	j := jailed(t)
	require.NoError(t, j.Signal(int(syscall.SIGTERM)), "dropped: nothing runs yet")
	// The child says itself that it was hit: Python can lose a status that comes together with a KeyboardInterrupt.
	require.NoError(t, j.start(t, "/usr/bin/python3", "-uISc", `import subprocess
p = subprocess.Popen(['/bin/sh', '-c', 'trap "echo child hit; exit" INT; echo child ready; sleep 60 & wait'])
try:
    print('parent ready')
    p.wait()
except KeyboardInterrupt: print('interrupted')
p.wait()`))
	j.says(t, "child ready")
	j.says(t, "parent ready")
	require.NoError(t, j.Signal(int(syscall.SIGINT)))
	out, _ := j.wait(t)
	assert.Contains(t, out, "interrupted")
	assert.Contains(t, out, "child hit", "the cell's child is hit as well")
}

func TestAnInterruptThatTheInsideSawItselfIsNotDoubled(t *testing.T) {
	j := jailed(t)
	require.NoError(t, j.start(t, "/usr/bin/python3", "-uISc", counting+"\n"))
	j.says(t, "ready")
	require.NoError(t, j.Signal(int(syscall.SIGINT)))
	out, _ := j.wait(t)
	assert.Contains(t, out, "hits 1", "the control")

	for sent, want := range map[int]string{1: "hits 1", 2: "hits 2"} { // the second one is another interrupt, however soon it comes
		j = jailed(t)
		require.NoError(t, j.start(t, "/usr/bin/python3", "-uISc", strings.Replace(counting, "print('ready')", "os.kill(1, signal.SIGINT); hit(); print('ready')", 1)))
		j.says(t, "ready")                // an editor has hit every process; now the launcher forwards its own
		time.Sleep(40 * time.Millisecond) // as long as the launcher holds it back, so that process 1 has seen its own
		for range sent {
			require.NoError(t, j.Signal(int(syscall.SIGINT)))
		}
		out, _ = j.wait(t)
		assert.Contains(t, out, want)
	}
}
