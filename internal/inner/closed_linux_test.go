package inner

import (
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

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// Each signal that there is, in each of the ways in which the program can send it, and process 1 does its work afterwards. Queued ones are those that
// the Go runtime takes for faults of its own.
const signalling = `import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
way = sys.argv[1]
for n in range(1, 65):
    if way == 'kill': os.kill(1, n)
    elif libc.sigqueue(1, n, None) if way == 'sigqueue' else libc.tgkill(1, 1, n):
        print(n, os.strerror(ctypes.get_errno()))
import socket
s = socket.create_server(('127.0.0.1', 7000))
print('sent')
s.accept()[0].sendall(b'served')
sys.stdin.read()`

func TestNoSignalFromInsideHurtsProcessOne(t *testing.T) {
	for _, way := range []string{"kill", "sigqueue", "tgkill"} {
		t.Run(way, func(t *testing.T) {
			in, out, err := os.Pipe()
			require.NoError(t, err)
			defer in.Close()
			defer out.Close()
			j := jailedWith(t, in)
			require.NoError(t, j.start(t, "/usr/bin/python3", "-uISc", signalling, way))
			j.says(t, "sent")
			c, err := j.Dial(short(t), 7000)
			require.NoError(t, err)
			defer c.Close()
			b, err := io.ReadAll(c)
			require.NoError(t, err)
			assert.Equal(t, "served", string(b))
			out.Close()
			said, exit := j.wait(t)
			assert.Equal(t, link.Exit{}, exit)
			assert.Equal(t, "sent", said, "every one was delivered")
		})
	}
}

// The control of the test above: a Go program that takes every signal as well, but is no process 1 of ours, dies of a queued one.
func TestAQueuedFaultKillsAnUnpreparedGoProgram(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"KERNEL_LAUNCH_TEST=wait"}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	code := fmt.Sprintf("import ctypes; ctypes.CDLL(None).sigqueue(%d, 11, None)", cmd.Process.Pid)
	require.NoError(t, exec.Command("/usr/bin/python3", "-ISc", code).Run())
	require.Error(t, cmd.Wait())
}

func TestAFloodOfSignalsHidesNoEnd(t *testing.T) {
	j := jailed(t)
	begin := time.Now()
	_, exit := j.python(t, `import os, signal, time
for _ in range(3):
    if os.fork() == 0:
        while True: os.kill(1, signal.SIGUSR1)
time.sleep(.3)
os._exit(5)`)
	assert.Equal(t, link.Exit{Status: 5}, exit)
	assert.Less(t, time.Since(begin), 10*time.Second)
}

// Whatever of process 1 would give a program its descriptors, its memory or its view. The control is the same of the program itself.
const prying = `import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(f):
    try: return f()
    except OSError as e: return errno.errorcode[e.errno]
def call(f, *args):
    if f(*args) < 0: raise OSError(ctypes.get_errno(), '')
def read(name): return lambda p: open(f'/proc/{p}/{name}', 'rb').read(0)
def follow(name): return lambda p: os.readlink(f'/proc/{p}/{name}') and b''
def peek(p):
    buf = ctypes.create_string_buffer(8)
    iov = (ctypes.c_void_p * 2)(ctypes.addressof(buf), 8)
    far = (ctypes.c_void_p * 2)(ctypes.addressof(buf), 8)
    call(libc.process_vm_readv, p, iov, 1, far, 1, 0)
def getfd(p):
    fd = os.pidfd_open(p)
    call(libc.syscall, 438, fd, 0, 0)
def trace(p):
    if p == 1: call(libc.ptrace, 16, p, None, None)
for name, f in {
    'mem': lambda p: os.close(os.open(f'/proc/{p}/mem', os.O_RDWR)), 'environ': read('environ'), 'maps': read('maps'), 'auxv': read('auxv'),
    'fd/0': follow('fd/0'), 'open fd/0': lambda p: os.close(os.open(f'/proc/{p}/fd/0', os.O_RDONLY)), 'root': follow('root'), 'cwd': follow('cwd'), 'exe': follow('exe'),
    'ns': follow('ns/net'), 'task': lambda p: follow(f'task/{p}/root')(p), 'inside root': lambda p: os.listdir(f'/proc/{p}/root/') and b'', 'vm': peek, 'pidfd': getfd, 'ptrace': trace,
}.items():
    print(name, attempt(lambda: f(1)) or 'OPEN', attempt(lambda: f(os.getpid())) or 'open')`

func TestProcessOneCannotBeReadFromInside(t *testing.T) {
	out, _ := jailed(t).python(t, prying)
	lines := strings.Split(out, "\n")
	require.Len(t, lines, 15, out)
	for _, line := range lines {
		f := strings.Fields(line)
		assert.Contains(t, []string{"EACCES", "EPERM"}, f[len(f)-2], line)
		assert.Equal(t, "open", f[len(f)-1], "%s: the control", line)
	}
}

// The kernel sends that signal when the thread ends that forked, not the process.
func TestTheProgramsParentDoesNotEnd(t *testing.T) {
	out, exit := jailed(t).python(t, "import ctypes, signal, time; ctypes.CDLL(None).prctl(1, signal.SIGKILL); time.sleep(.5); print('lives')")
	assert.Equal(t, link.Exit{}, exit)
	assert.Equal(t, "lives", out)
}

// alive is true while a process of the host's has marker in its arguments.
func alive(t *testing.T, marker string) bool {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), marker) && !strings.HasPrefix(f, "/proc/"+strconv.Itoa(os.Getpid())+"/") {
			return true
		}
	}
	return false
}

// Daemons that did all they can to outlive their parent.
const daemons = `import ctypes, os, signal, sys, time
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        ctypes.CDLL(None).prctl(1, 0)
        os.execv('/bin/sleep', ['sleep', sys.argv[1]])
time.sleep(.1)
print('ready')
time.sleep(300)`

func TestNothingOutlivesTheEnd(t *testing.T) {
	for name, end := range map[string]func(j *jail){
		"of the link":    func(j *jail) { j.Close() },
		"of bwrap":       func(j *jail) { j.cmd.Process.Signal(syscall.SIGKILL) },
		"of the program": func(j *jail) { j.Signal(int(syscall.SIGKILL)) },
	} {
		t.Run(name, func(t *testing.T) {
			marker := fmt.Sprintf("300.%09d", time.Now().UnixNano()%1e9)
			j := jailed(t)
			require.NoError(t, j.start(t, "/usr/bin/python3", "-uISc", daemons, marker))
			j.says(t, "ready")
			require.True(t, alive(t, marker), "the control")
			end(j)
			select {
			case <-j.end:
			case <-time.After(10 * time.Second):
				t.Fatal("something goes on")
			}
			require.Eventually(t, func() bool { return !alive(t, marker) }, time.Minute, time.Millisecond)
		})
	}
}
