package egress

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withCgo is this test program with the C library's resolver in it, as a
// program is that embeds the package. One that lies ready is taken: where the
// tests run as another user there is no Go.
func withCgo(t *testing.T) string {
	if ready, err := filepath.Abs("cgo.test"); err == nil {
		if _, err := os.Stat(ready); !errors.Is(err, fs.ErrNotExist) {
			return ready
		}
	}
	out := filepath.Join(t.TempDir(), "cgo.test")
	build := exec.Command("go", "test", "-c", "-o", out, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	said, err := build.CombinedOutput()
	require.NoError(t, err, "building with cgo, which takes a C compiler: %s", said)
	return out
}

// resolveIn runs a test program in a network of its own, with a resolver's
// files of its own.
func resolveIn(t *testing.T, program, godebug string) observed {
	etc := t.TempDir()
	for name, text := range map[string]string{
		"resolv.conf":   "nameserver 127.0.0.1\nsearch search.test\noptions timeout:5\n",
		"hosts":         "127.0.0.1 localhost\n10.9.8.7 printer.allowed.test\n",
		"nsswitch.conf": "hosts: files dns\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(etc, name), []byte(text), 0o644))
	}
	cmd := exec.Command("bwrap", "--unshare-user", "--uid", "0", "--gid", "0", "--unshare-net", "--unshare-pid", "--die-with-parent", "--cap-add", "CAP_NET_BIND_SERVICE",
		"--ro-bind", "/", "/", "--ro-bind", etc, "/etc", "--dev", "/dev", "--proc", "/proc", "--setenv", insideVar, "1", "--setenv", "GODEBUG", godebug, program)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var o observed
	require.NoError(t, json.Unmarshal(out, &o), "%s", out)
	return o
}

// Go's resolver and the C library's read names differently: the latter takes
// numbers for addresses. Neither difference reaches the proxy, which decides
// what is an address before it asks, asks for absolute names, and asks by Go's
// resolver unless it is given another.
func TestVerdictsAreTheSameByEachResolver(t *testing.T) {
	this, err := os.Executable()
	require.NoError(t, err)
	pure, cgo := resolveIn(t, this, "netdns=go"), resolveIn(t, withCgo(t), "netdns=cgo")

	for _, number := range plainTexts[:5] {
		assert.Equal(t, "nothing", pure.Plain[number], number)
		assert.Equal(t, "127.0.0.1", cgo.Plain[number], "the C library is not asked, so this shows nothing: %s", number)
	}
	for _, o := range []observed{pure, cgo} {
		assert.Equal(t, "192.0.2.80", o.Plain["short"], "the search domain works")
		assert.Equal(t, "10.9.8.7", o.Plain["printer.allowed.test"], "the file works")
		assert.Equal(t, "127.0.0.0", o.Plain["row-0.allowed.test."], "the name server works")
	}
	assertVerdicts(t, pure, strangeHosts)
	// The C library does not look a name with a final dot up in its file: it
	// asks the name server, and what that says is screened.
	inFile := maps.Clone(strangeHosts)
	for _, host := range []string{"printer.allowed.test", "printer.allowed.test.", "PRINTER.allowed.test"} {
		inFile[host] = "502 no-address"
	}
	assertVerdicts(t, cgo, inFile)
}

// assertVerdicts: with the resolver that the proxy has by itself everything is
// as strangeHosts wants it, with the system's as system does.
func assertVerdicts(t *testing.T, o observed, system map[string]string) {
	for host, want := range strangeHosts {
		v := o.Verdicts[host]
		assert.Equal(t, want, v.Own.Status+" "+v.Own.Code, host)
		assert.Equal(t, system[host], v.System.Status+" "+v.System.Code, "%s by the system's resolver", host)
		assert.Zero(t, v.Own.Dialled+v.System.Dialled, host)
	}
	for host, a := range rowNames() {
		want := answered{"403", CodeInwardAddress, 0}
		if rowPasses(Classify(a), ScreenNormal) {
			want = answered{"200", "", 1}
		}
		assert.Equal(t, verdict{want, want}, o.Verdicts[host], "%s is %s", host, a)
	}
	for _, name := range o.Asked {
		assert.NotContains(t, name, "search.test", "a search domain was tried")
	}
}
