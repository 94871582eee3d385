package launcher

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/cases"
	"github.com/kernel-launch/kernel-launch/internal/witness"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// oneCase is a row of testdata/cases that needs a launcher. What depends on input.kind stays raw.
type oneCase struct {
	ID              string
	Input, Expected json.RawMessage
}

// TestCases runs the kinds that need a launcher; packages sandbox and egress have the others.
func TestCases(t *testing.T) {
	runners := cases.Runners[oneCase]{"env_filter": variablesCase, "egress_reach": reachCase, "workload": workloadCase, "proxy_env": proxyVariablesCase}
	cases.RunSome(t, runners, "sandbox.json", "sandbox-platforms.json", "egress.json")
}

// ownValues are variables that a kernel has whatever the host's are: they lead to places inside.
var ownValues = []string{"PATH", "HOME"}

func variablesCase(t *testing.T, row oneCase) {
	in := cases.As[struct {
		Env     map[string]string
		Windows map[string]string `json:"windows_variant"`
	}](t, row.Input)
	want := cases.As[struct {
		Passes, Dropped []string
		Windows         []string `json:"windows_passes"`
	}](t, row.Expected)
	got := pythonPlan(in.Env).variables(DefaultConfig(), "/work")
	for _, name := range want.Passes {
		require.Contains(t, in.Env, name)
		require.Contains(t, got, name)
		inside := got[name] != in.Env[name]
		assert.Equal(t, slices.Contains(ownValues, name), inside, name)
	}
	for _, name := range want.Dropped {
		require.Contains(t, in.Env, name)
		assert.NotContains(t, got, name)
	}
	windowsVariables(t, in.Windows, want.Windows)
}

func windowsVariables(t *testing.T, host map[string]string, passes []string) {
	t.Helper()
	host["openai_api_key"] = "example"
	p := pythonPlan(host)
	p.host.goos = "windows"
	got := p.variables(DefaultConfig(), `C:\work`)
	require.Len(t, passes, 3)
	for _, name := range passes {
		assert.True(t, strings.HasSuffix(got[name], host[name]), "%s is %q", name, got[name])
	}
	assert.NotContains(t, got, "openai_api_key")
	seen := map[string]string{}
	for name := range got {
		assert.Empty(t, seen[strings.ToUpper(name)], "%s is there twice", name)
		seen[strings.ToUpper(name)] = name
	}
	plain := pythonPlan(host).variables(DefaultConfig(), "/work")
	assert.NotContains(t, plain, "SystemRoot", "the control: elsewhere it says nothing")
}

// proxyVariablesCase: what clients inside are told of the proxy, whatever the launcher itself was told of one.
func proxyVariablesCase(t *testing.T, row oneCase) {
	in := cases.As[struct {
		Mode  sandbox.Network
		Env   map[string]string `json:"outer_env"`
		Proxy string
	}](t, row.Input)
	want := cases.As[struct{ Env map[string]string }](t, row.Expected)
	cfg := DefaultConfig()
	cfg.Sandbox.Network = in.Mode
	p := pythonPlan(in.Env)
	got := p.variables(cfg, "/work")
	for name, value := range want.Env {
		assert.Equal(t, strings.Replace(value, in.Proxy, "127.0.0.1:"+strconv.Itoa(p.egressAt()), 1), got[name], name)
	}
}

// reaching connects where the variables say, and lists the sockets that have a name in the view: those that are mounted, and those in what is the
// sandbox's own or may be written.
const reaching = `import json, os, socket, stat, sys, urllib.parse
mounts = {}
for line in open("/proc/self/mountinfo"):
    before, after = line.split(" - ")
    mounts[before.split()[4]] = after.split()[0]
own = {top for top, kind in mounts.items() if kind == "tmpfs"} | set(WRITABLE)
def kind(path):
    while path not in mounts: path = os.path.dirname(path)
    return mounts[path]
def proxy():
    at = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
    with socket.create_connection((at.hostname, at.port), 10): return "ok"
def sockets():
    found = set(mounts)
    for top in own:
        for folder, folders, files in os.walk(top):
            folders[:] = [f for f in folders if os.path.join(folder, f) not in mounts]
            found |= {os.path.join(folder, f) for f in files}
    return sorted(f for f in found if os.path.lexists(f) and stat.S_ISSOCK(os.lstat(f).st_mode))
before = sockets()
control = socket.socket(socket.AF_UNIX)
control.bind("/tmp/control")
print(json.dumps({"Probe": [proxy(), ", ".join(before) or "none"], "Control": sockets(), "Kinds": [kind(d) for d in TMPFS], "Writable": [os.access(d, os.W_OK) for d in WRITABLE]}))
`

func reachCase(t *testing.T, row oneCase) {
	in := cases.As[struct {
		Policy struct{ Tmpfs, Writable []string }
	}](t, row.Input)
	want := cases.As[struct{ Probe []string }](t, row.Expected)
	cfg := DefaultConfig()
	base := folder(t)
	for _, dir := range in.Policy.Writable {
		require.NoError(t, os.MkdirAll(base+dir, 0o700))
		cfg.Sandbox.Write = append(cfg.Sandbox.Write, base+dir)
	}
	got := value[struct {
		Probe, Control, Kinds []string
		Writable              []bool
	}](t, Spec{Config: cfg}, "WRITABLE, TMPFS = "+quoted(t, cfg.Sandbox.Write)+", "+quoted(t, in.Policy.Tmpfs)+"\n"+reaching)
	assert.Equal(t, want.Probe, got.Probe)
	assert.Equal(t, []string{"/tmp/control"}, got.Control, "the control: one that has a name is found")
	assert.Equal(t, []string{"tmpfs", "tmpfs"}, got.Kinds)
	assert.Equal(t, []bool{true}, got.Writable)
}

// quoted is text that Python reads as well.
func quoted(t *testing.T, of []string) string {
	t.Helper()
	b, err := json.Marshal(of)
	require.NoError(t, err)
	return string(b)
}

// working is a module, since what is spawned imports it.
const working = `import json, multiprocessing, multiprocessing.connection, os
from multiprocessing import shared_memory

def put(queue, semaphore, name):
    with semaphore:
        block = shared_memory.SharedMemory(name)
        block.buf[0] += 1
        block.close()
        queue.put(os.getpid())

def work(method):
    c = multiprocessing.get_context(method)
    queue, semaphore = c.Queue(), c.Semaphore(1)
    block = shared_memory.SharedMemory(create=True, size=100)
    some = [c.Process(target=put, args=(queue, semaphore, block.name)) for _ in range(2)]
    for p in some: p.start()
    pids = {queue.get(timeout=30) for _ in some}
    for p in some: p.join(30)
    seen = os.listdir("/dev/shm")
    done = [len(pids - {os.getpid()}), [p.exitcode for p in some], block.buf[0], block._name.strip("/") in seen]
    block.close(); block.unlink()
    return done

if __name__ == "__main__":
    with open("/dev/shm/inside", "w") as f: f.write("x")
    with multiprocessing.connection.Listener(family="AF_UNIX") as l: at = l.address
    print(json.dumps({"Methods": {m: work(m) for m in multiprocessing.get_all_start_methods()}, "Shm": sorted(os.listdir("/dev/shm")), "Socket": at}))
`

func workloadCase(t *testing.T, row oneCase) {
	in := cases.As[struct {
		Platforms []string
		Program   string
		Network   string
	}](t, row.Input)
	require.Contains(t, in.Platforms, "linux")
	theirs := write(t, filepath.Join("/dev/shm", "kernel-launch-"+filepath.Base(folder(t))), "x", 0o644)
	t.Cleanup(func() { os.Remove(theirs) })
	s := Spec{Folder: folder(t), Overrides: Overrides{Network: in.Network}}
	script := write(t, s.Folder+"/working.py", working, 0o644)
	var out witness.Output
	s.Command, s.Stdout, s.Stderr = []string{systemPython, "-I", script}, &out, &out
	require.Zero(t, launch(t, s).Wait().Code, out.String())
	got := cases.As[struct {
		Methods map[string][]any
		Shm     []string
		Socket  string
	}](t, json.RawMessage(out.String()))
	for _, method := range []string{"fork", "spawn", "forkserver"} {
		require.Contains(t, in.Program, method)
		assert.Equal(t, []any{2.0, []any{0.0, 0.0}, 2.0, true}, got.Methods[method], method)
	}
	assert.Equal(t, []string{"inside"}, got.Shm, "private: what the host has there is not seen")
	assert.NoFileExists(t, "/dev/shm/inside")
	assert.True(t, strings.HasPrefix(got.Socket, "/tmp/"), got.Socket)
}
