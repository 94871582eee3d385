package launcher

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// value runs a program that prints JSON.
func value[T any](t *testing.T, s Spec, code string) (v T) {
	t.Helper()
	out, exit := python(t, s, code)
	require.Zero(t, exit.Code, out)
	require.NoError(t, json.Unmarshal([]byte(out[strings.LastIndexByte(out, '\n')+1:]), &v), out)
	return v
}

const links = "import json, os\ndef links(p):\n    found = []\n    for n in os.listdir(f'/proc/{p}/fd'):\n        try: found.append(os.readlink(f'/proc/{p}/fd/{n}'))\n        except OSError: pass\n    return found\n"

func TestNoDescriptorOfTheHostComesIn(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	_, err = unix.FcntlInt(r.Fd(), unix.F_SETFD, 0) // as servers leak them
	require.NoError(t, err)
	leaked, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", r.Fd()))
	require.NoError(t, err)
	code := links + "print(json.dumps(links('self')))"
	control, err := exec.Command(systemPython, "-ISc", code).Output()
	require.NoError(t, err)
	require.Contains(t, string(control), leaked, "the control: a plain child has it")

	got := value[[]string](t, Spec{}, code)
	assert.NotContains(t, got, leaked)
	assert.Len(t, got, 3, "the standard ones alone: %v", got)
	assert.Equal(t, "/dev/null", got[0])
}

func TestTheStandardDescriptorsArePipesOfTheLauncher(t *testing.T) {
	file, err := os.Create(folder(t) + "/kernel.log")
	require.NoError(t, err)
	defer file.Close()
	k := launch(t, Spec{Stdout: file, Stderr: file, Command: []string{
		systemPython, "-ISc",
		links + "print(json.dumps([os.fstat(n).st_ino for n in (1, 2)] + links('self')[:3]))\nos.write(2, b'seen \\x1b]0;title\\x07 end\\n')",
	}})
	require.Zero(t, k.Wait().Code)
	info, err := file.Stat()
	require.NoError(t, err)
	b, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(b), `"pipe:[`), "%s", b)
	assert.NotContains(t, string(b), fmt.Sprint(info.Sys().(*syscall.Stat_t).Ino), "%s", b)
	assert.Contains(t, string(b), `seen \x1b]0;title\x07 end`)
	assert.NotContains(t, string(b), "\x1b")
}

func TestVariablesComeInByName(t *testing.T) {
	const secret = "s3cr3t-value"
	environ := append(os.Environ(), "AWS_SECRET_ACCESS_KEY="+secret, "SSH_AUTH_SOCK=/tmp/agent", "MY_TOKEN="+secret, "DOCKER_HOST=x", "LC_TIME=de_DE.UTF-8", "OMP_NUM_THREADS=3", "WANTED=yes")
	code := "import json, os\ndef env(p):\n    try: return open(f'/proc/{p}/environ', 'rb').read()\n    except OSError: return b''\n" +
		"print(json.dumps({'own': dict(os.environ), 'all': [p for p in os.listdir('/proc') if p.isdigit() and b'" + secret + "' in env(p)]}))"
	plain := exec.Command(systemPython, "-ISc", code)
	plain.Env = environ
	control, err := plain.Output()
	require.NoError(t, err)
	require.Contains(t, string(control), secret, "the control: a plain child has it")

	got := value[struct {
		Own map[string]string
		All []string
	}](t, Spec{Environ: environ, Overrides: Overrides{PassEnv: []string{"WANTED"}, SetEnv: []string{"MADE=here"}}}, code)
	assert.NotContains(t, fmt.Sprint(got.Own), secret)
	assert.Empty(t, got.All, "nor is it in any process that can be seen")
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "MY_TOKEN", "DOCKER_HOST", "XDG_RUNTIME_DIR"} {
		assert.NotContains(t, got.Own, name)
	}
	for name, want := range map[string]string{"LC_TIME": "de_DE.UTF-8", "OMP_NUM_THREADS": "3", "WANTED": "yes", "MADE": "here", "HOME": sandbox.HomeTarget, "PYTHONNOUSERSITE": "1"} {
		assert.Equal(t, want, got.Own[name], name)
	}
	assert.True(t, strings.HasPrefix(got.Own["PATH"], got.Own["VIRTUAL_ENV"]+"/bin:"), got.Own["PATH"])
}

func TestWhatAKernelKeepsIsKeptForItsFolder(t *testing.T) {
	one, two := folder(t), folder(t)
	look := "import os; print(os.path.exists(os.path.expanduser('~/kept')))"
	out, _ := python(t, Spec{Folder: one}, "import os; open(os.path.expanduser('~/kept'), 'w').write('1'); print('kept')")
	require.Equal(t, "kept", out)
	out, _ = python(t, Spec{Folder: one}, look)
	assert.Equal(t, "True", out)
	out, _ = python(t, Spec{Folder: two}, look)
	assert.Equal(t, "False", out)
	assert.NoFileExists(t, os.Getenv("HOME")+"/kept")
}

func TestTheRealHomeIsNotShown(t *testing.T) {
	secret := os.Getenv("HOME") + "/secret"
	require.NoError(t, os.WriteFile(secret, []byte("x"), 0o644))
	code := fmt.Sprintf("import os; print(os.path.exists(%q))", secret)
	control, err := exec.Command(systemPython, "-ISc", code).Output()
	require.NoError(t, err)
	require.Equal(t, "True\n", string(control))
	out, _ := python(t, Spec{}, code)
	assert.Equal(t, "False", out)
}

// reach tries a direct connection, a name, and two hosts through whatever proxy the variables name.
const reach = `import json, os, socket, sys, urllib.request, urllib.error
def attempt(f):
    try: return str(f())
    except urllib.error.HTTPError as e: return f"{e.code} {e.reason} {e.headers.get('X-Kernel-Launch-Deny')}"
    except Exception as e: return type(e).__name__
def get(url): return urllib.request.urlopen(url, timeout=10).read().decode()
port = int(sys.argv[1]) if len(sys.argv) > 1 else PORT
print(json.dumps({
    'direct': attempt(lambda: socket.create_connection(('127.0.0.1', port), 5) and 'connected'),
    'name': attempt(lambda: socket.getaddrinfo('api.allowed.test', 80) and 'resolved'),
    'proxy': os.environ.get('http_proxy', ''),
    'allowed': attempt(lambda: get('http://api.allowed.test/hello')) if os.environ.get('http_proxy') else '',
    'refused': attempt(lambda: get('http://other.test/')) if os.environ.get('http_proxy') else '',
    'loopback': attempt(lambda: urllib.request.urlopen(urllib.request.Request(f'http://127.0.0.1:{port}/'), timeout=5).status),
    'interfaces': len(socket.if_nameindex()),
}))`

type reached struct {
	Direct, Name, Proxy, Allowed, Refused, Loopback string
	Interfaces                                      int
}

func TestThreeNetworks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host, r.URL.Path) }))
	defer server.Close()
	address := server.Listener.Addr().(*net.TCPAddr)
	code := strings.ReplaceAll(reach, "PORT", itoa(address.Port))
	var control reached
	b, err := exec.Command("/usr/bin/env", "-i", systemPython, "-ISc", code).Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &control))
	require.Equal(t, "connected", control.Direct, "the control: outside, the listener answers")

	cfg := DefaultConfig()
	rule, err := egress.ParseRule(".allowed.test")
	require.NoError(t, err)
	pin, err := egress.ParsePin(".allowed.test", address.String())
	require.NoError(t, err)
	cfg.Egress.Allow, cfg.Egress.Pins = append(cfg.Egress.Allow, rule), append(cfg.Egress.Pins, pin)
	environ := append(os.Environ(), "http_proxy=http://192.0.2.1:1", "HTTP_PROXY=http://192.0.2.1:1")
	in := func(network string) reached {
		return value[reached](t, Spec{Config: cfg, Environ: environ, Overrides: Overrides{Network: network}}, code)
	}

	none := in("none")
	assert.Equal(t, reached{Direct: "ConnectionRefusedError", Name: "gaierror", Loopback: "URLError", Interfaces: 1}, none)

	host := in("host")
	assert.Equal(t, "connected", host.Direct)
	assert.Empty(t, host.Proxy)
	assert.Equal(t, control.Interfaces, host.Interfaces)

	allow := in("allowlist")
	assert.Equal(t, "ConnectionRefusedError", allow.Direct)
	assert.Equal(t, "gaierror", allow.Name)
	assert.Equal(t, 1, allow.Interfaces)
	assert.Equal(t, "http://127.0.0.1:3128", allow.Proxy)
	assert.Equal(t, "api.allowed.test/hello", allow.Allowed)
	assert.Contains(t, allow.Refused, "403")
	assert.Contains(t, allow.Refused, "host=other.test")
	assert.NotEqual(t, "200", allow.Loopback)
}

func TestARefusalIsToldOnceForEachHost(t *testing.T) {
	out, exit := python(t, Spec{}, "import urllib.request\nfor h in ('a.test', 'a.test', 'b.test'):\n    try: urllib.request.urlopen('http://' + h + '/')\n    except Exception as e: pass")
	require.Zero(t, exit.Code, out)
	assert.Equal(t, 1, strings.Count(out, "kernel-launch: refused a.test:80 ("), out)
	assert.Equal(t, 1, strings.Count(out, "kernel-launch: refused b.test:80 ("), out)
}

func TestTheProxyKeepsAwayFromTheKernelsPorts(t *testing.T) {
	c := connection("127.0.0.1", "tcp", 3128, 3129, 5, 6, 7)
	assert.Equal(t, 3130, (&Plan{Connection: c}).egressAt())
	assert.Equal(t, 3128, (&Plan{}).egressAt())
}
