package inner

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

func (j *jail) ordered(t *testing.T, o link.Order, code string) (string, link.Exit) {
	t.Helper()
	o.Argv, o.Env, o.Dir = []string{"/usr/bin/python3", "-uISc", code}, []string{"PATH=/usr/bin:/bin"}, "/"
	require.NoError(t, j.Start(short(t), o))
	return j.wait(t)
}

const scores = "print(*[open(f'/proc/{p}/oom_score_adj').read().strip() for p in ('self', 1)])"

func TestTheProgramIsKilledBeforeItsServer(t *testing.T) {
	b, err := os.ReadFile("/proc/self/oom_score_adj")
	require.NoError(t, err)
	before, err := strconv.Atoi(strings.TrimSpace(string(b)))
	require.NoError(t, err)
	for _, limits := range [][]link.Rlimit{nil, {{Name: "data", Value: 1 << 40}}} { // both ways to start a program
		out, _ := jailed(t).ordered(t, link.Order{OOM: 200, Rlimits: limits}, scores)
		assert.Equal(t, strconv.Itoa(min(before+200, 1000))+" "+strconv.Itoa(before), out, "the program's and process 1's")
	}
	out, _ := jailed(t).ordered(t, link.Order{}, scores)
	assert.Equal(t, strconv.Itoa(before)+" "+strconv.Itoa(before), out)
}

func TestCoreFilesAreLimited(t *testing.T) {
	const code = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))"
	out, _ := jailed(t).ordered(t, link.Order{}, code)
	assert.Equal(t, "(1, 1)", out)

	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_CORE, &before))
	control, err := exec.Command("/usr/bin/python3", "-ISc", code).Output()
	require.NoError(t, err)
	require.NotContains(t, string(control), "(1, 1)", "the control")
	out = zeroCore(t, code)
	assert.Equal(t, "(0, 0)", out, "a launcher that may write none starts kernels all the same")
}

// zeroCore is a sandbox of a user whose hard limit for core files is 0.
func zeroCore(t *testing.T, code string) string {
	t.Helper()
	dir := folder(t)
	require.NoError(t, os.WriteFile(dir+"/bwrap", []byte("#!/bin/sh\nulimit -c 0\nPATH="+os.Getenv("PATH")+"\nexec bwrap \"$@\"\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out, _ := jailed(t).ordered(t, link.Order{}, code)
	return out
}

// TestTheLimitOfCoreFilesStays: with 0 a core_pattern that names a program would run it, on the host and as root. Whether it would is not tried: the pattern
// is never written.
func TestTheLimitOfCoreFilesStays(t *testing.T) {
	const code = `import ctypes, resource, struct, subprocess, sys
core = resource.RLIMIT_CORE
old = resource.getrlimit(core)[1]
resource.setrlimit(core, (0, old))
print(resource.getrlimit(core)[0] == old, end=' ')
try: resource.prlimit(0, core, (0, old)); print(resource.getrlimit(core)[0] == old, end=' ')
except OSError as e: print(e.errno, end=' ')
libc = ctypes.CDLL(None, use_errno=True)
call = {'x86_64': 160, 'aarch64': 164}[__import__('os').uname().machine]
libc.syscall(call, core, struct.pack('qq', 0, old))
print(resource.prlimit(0, core)[0] == old, end=' ')
child = 'import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); print(resource.getrlimit(resource.RLIMIT_CORE)[0])'
print(subprocess.run([sys.executable, '-ISc', child], capture_output=True, text=True).stdout.strip(), end=' ')
resource.setrlimit(resource.RLIMIT_NOFILE, (99, 100))
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])`
	var l unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_CORE, &l))
	if l.Max == 0 {
		t.Skip("this user's limit is 0 for good")
	}
	control := exec.Command("/bin/sh", "-c", `ulimit -S -c "$(ulimit -H -c)"; exec /usr/bin/python3 -ISc "$0"`, code)
	out, err := control.Output()
	require.NoError(t, err)
	require.Equal(t, "False False False 0 99\n", string(out), "the control")
	for _, limits := range [][]link.Rlimit{nil, {{Name: "data", Value: 1 << 40}}} { // both ways to start a program
		out, _ := jailed(t).ordered(t, link.Order{Rlimits: limits}, code)
		assert.Equal(t, "True 1 True 1 99", out)
	}
}

func TestResourceLimitsHoldTheProgramAndItsChildren(t *testing.T) {
	const code = `import os, resource, subprocess
def attempt(n):
    try: return len(bytearray(n))
    except MemoryError: return 'MemoryError'
print(resource.getrlimit(resource.RLIMIT_DATA), resource.getrlimit(resource.RLIMIT_NPROC))
print(attempt(16 << 20), attempt(300 << 20))
print(subprocess.run(['/usr/bin/python3', '-ISc', 'bytearray(300 << 20)'], stderr=subprocess.DEVNULL).returncode)
print(open('/proc/self/status').read().split('SigBlk:')[1].split()[0], sorted(os.listdir('/proc/self/fd'))[:3])`
	limits := []link.Rlimit{{Name: "data", Value: 200 << 20}, {Name: "nproc", Value: 1000}}
	out, _ := jailed(t).ordered(t, link.Order{Rlimits: limits}, code)
	assert.Equal(t, "(209715200, 209715200) (1000, 1000)\n16777216 MemoryError\n1\n0000000000000000 ['0', '1', '2']", out)
	out, _ = jailed(t).ordered(t, link.Order{}, code)
	assert.Contains(t, out, "\n16777216 314572800\n0\n0000000000000000 ['0', '1', '2']", "the control")
}

func TestTheNumberOfProcessesIsLimited(t *testing.T) {
	const code = `import os, time
n = 0
try:
    while n < 100:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError as e: print(e.errno, end=' ')
print(n)`
	out, _ := jailed(t).ordered(t, link.Order{}, code)
	require.Equal(t, "100", out, "the control")
	out, exit := jailed(t).ordered(t, link.Order{Rlimits: []link.Rlimit{{Name: "nproc", Value: 60}}}, code)
	assert.Zero(t, exit.Status, "process 1 is not held to it")
	if os.Getuid() == 0 {
		assert.Equal(t, "100", out, "the kernel lets the host's root have as many as it likes")
		return
	}
	said, number, _ := strings.Cut(out, " ")
	n, err := strconv.Atoi(number)
	require.NoError(t, err, out)
	assert.Equal(t, "11", said)
	assert.True(t, n > 30 && n < 60, "%d processes beside process 1 and its threads", n)
}

func TestAnUnknownLimitEndsTheStart(t *testing.T) {
	err := jailed(t).Start(short(t), link.Order{Argv: []string{"/bin/true"}, Dir: "/", Rlimits: []link.Rlimit{{Name: "stack", Value: 1}}})
	var failed *link.FailedError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "limits", failed.Stage)
	assert.Equal(t, `there is no resource limit "stack"`, failed.Text)
}
