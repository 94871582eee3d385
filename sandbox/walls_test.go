//go:build linux

package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNoFurtherUsersWithoutTheFilterEither(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, "ok\n", w.outside("newuser"))
	require.Equal(t, "operation not permitted\n", w.inside("newuser"))
	require.Equal(t, "no space left on device\n", w.insideOf(w.bare(), "newuser"), "without the filter the limit of namespaces holds too")
}

func TestNetworks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	abstract, err := net.Listen("unix", fmt.Sprintf("@kernel-launch-test-%d", os.Getpid()))
	require.NoError(t, err)
	defer abstract.Close()
	targets := []string{l.Addr().String(), abstract.Addr().String()}
	w := newWorld(t)
	require.Equal(t, "ok\nok\n", w.outside("connect", targets...))
	for _, n := range []Network{"", NetworkNone, NetworkAllowlist} {
		w.policy.Network = n
		require.Equal(t, strings.Repeat("connection refused\n", 2), w.inside("connect", targets...), "network %q", n)
		require.Equal(t, "lo\n", w.inside("interface"))
		require.Equal(t, "127.0.0.1 ::1 ok\n unknown\n", w.inside("lookup", "localhost", "allowed.test"))
	}
	w.policy.Network = NetworkHost
	require.Equal(t, "ok\nok\n", w.inside("connect", targets...))
	require.Equal(t, w.outside("interface"), w.inside("interface"))
}

func TestHomeIsKeptAndIsNotTheRealOne(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, "ok\n", w.inside("create", HomeTarget+"/note"))
	require.Equal(t, "made inside", w.read(w.kept+"/note"))
	require.NoFileExists(t, w.home+"/note")
	require.Equal(t, "made insideok\n", w.inside("read", HomeTarget+"/note"))
	w.policy.KeptHome = ""
	require.Equal(t, "no such file or directory\n", w.inside("read", HomeTarget+"/note"))
	require.Equal(t, "ok\n", w.inside("create", HomeTarget+"/note"), "a private home can be written too")
}

func TestWithoutAFolderTheWorkIsThrownAway(t *testing.T) {
	w := newWorld(t)
	w.policy.Folder = ""
	require.Equal(t, "ok\n", w.inside("create", "here"))
	require.Equal(t, WorkTarget, w.plan().Dir)
	require.Equal(t, "PWD="+WorkTarget+"\x00ok\n", w.inside("read", "/proc/1/environ"))
	require.Equal(t, "no such file or directory\n", w.inside("list", w.work))
}

func TestTreesArePinnedAtTheirNames(t *testing.T) {
	w := newWorld(t)
	gen, current := w.home+"/data/gen/1", w.home+"/data/current"
	w.write(gen+"/lib/module", "one")
	require.NoError(t, os.Symlink("gen/1", current))
	w.policy.Trees = []Tree{{Source: gen, Target: current}}
	require.Equal(t, "oneok\n", w.inside("read", current+"/lib/module"))
	require.Equal(t, "read-only file system\n", w.inside("create", current+"/lib/new"))
	require.Equal(t, current+" ok\n", w.inside("links", current), "inside it is a folder, whatever the host's link says later")
	stage := w.base + "/stage"
	require.NoError(t, os.Mkdir(stage, 0o755))
	w.policy.Writable = []Tree{{Source: stage, Target: w.home + "/data/stage"}}
	require.Equal(t, "ok\n", w.inside("create", w.home+"/data/stage/new"))
	require.FileExists(t, stage+"/new")
}

func TestInterpretersBelowTheCoveredHome(t *testing.T) {
	w := newWorld(t)
	prefix := w.home + "/.pyenv/versions/3.11.9"
	w.write(prefix+"/bin/python", "x")
	w.write(w.home+"/.pyenv/other", secretText)
	require.NoError(t, os.Symlink(prefix, w.base+"/python"))
	w.policy.Prefixes = []string{w.base + "/python", "/usr"}
	require.Equal(t, "xok\nxok\n", w.inside("read", prefix+"/bin/python", w.base+"/python/bin/python"))
	require.Equal(t, "read-only file system\n", w.inside("create", prefix+"/new"))
	require.Equal(t, "versions ok\n", w.inside("list", w.home+"/.pyenv"))
}

func TestGrantsUnderBothSpellings(t *testing.T) {
	w := newWorld(t)
	data, results := w.base+"/disk/data", w.base+"/disk/results"
	w.write(data+"/set.csv", "42")
	w.write(data+"/private/key", secretText)
	require.NoError(t, os.Mkdir(results, 0o755))
	require.NoError(t, os.Symlink(w.base+"/disk", w.home+"/disk"))
	require.NoError(t, os.Symlink(data, w.base+"/alias"))
	w.policy.Read = []string{w.home + "/disk/data", w.base + "/alias"}
	w.policy.Write = []string{w.home + "/disk/results"}
	require.Equal(t, "42ok\n42ok\n42ok\n", w.inside("read", data+"/set.csv", w.home+"/disk/data/set.csv", w.base+"/alias/set.csv"))
	require.Equal(t, "read-only file system\n", w.inside("create", w.base+"/alias/new"))
	require.Equal(t, "ok\n", w.inside("create", w.home+"/disk/results/new"))
	require.FileExists(t, results+"/new")
	require.Equal(t, secretText+"ok\n", w.inside("read", data+"/private/key"))
	w.policy.Hide = []string{w.base + "/alias/private"}
	require.Equal(t, "no such file or directory\n", w.inside("read", data+"/private/key"))
	require.Equal(t, "read-only file system\n", w.inside("create", data+"/private/new"))
	w.policy.Hide = []string{data + "/private/key"}
	require.Equal(t, "permission denied\n", w.inside("read", data+"/private/key"))
}

func TestTheFolderInsideAReadOnlyProject(t *testing.T) {
	w := newWorld(t)
	project := w.home + "/project"
	w.write(project+"/data.csv", "42")
	w.policy.Folder = project + "/notebooks"
	require.NoError(t, os.Mkdir(w.policy.Folder, 0o755))
	w.policy.Read = []string{project}
	require.Equal(t, "42ok\n", w.inside("read", "../data.csv"))
	require.Equal(t, "read-only file system\nok\n", w.inside("create", "../new", "new"))
}

func TestSocketsInGrants(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{w.work, w.base + "/d"} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		l, err := net.Listen("unix", dir+"/s")
		require.NoError(t, err)
		defer l.Close()
	}
	require.Equal(t, "ok\n", w.inside("connect", w.work+"/s"), "the user's own, and the control: mounts do not stop connect")
	w.policy.Read = []string{w.base + "/d"}
	_, err := Default().Plan(w.policy)
	var e *PathError
	require.ErrorAs(t, err, &e)
	require.Equal(t, w.base+"/d", e.Path)
	require.Contains(t, e.Reason, "socket s")
}

func TestTheAccountsInside(t *testing.T) {
	w := newWorld(t)
	first, _, _ := strings.Cut(w.inside("read", "/etc/passwd"), "\n")
	fields := strings.Split(first, ":")
	require.Len(t, fields, 7)
	assert.Equal(t, fmt.Sprint(os.Geteuid()), fields[2])
	assert.Equal(t, HomeTarget, fields[5])
}

func TestOnlyTheDescriptorsThatWereGiven(t *testing.T) {
	w := newWorld(t)
	given := w.base + "/given"
	w.write(given, "x")
	f, err := os.Open(given)
	require.NoError(t, err)
	defer f.Close()
	out, err := memory("output", nil)
	require.NoError(t, err)
	defer out.Close()
	p, err := Default().Start(t.Context(), w.plan(), Command{Argv: []string{HelperTarget, "probe", "files"}, Files: []*os.File{f}, Stdout: out})
	require.NoError(t, err)
	require.NoError(t, p.Wait())
	data, err := os.ReadFile(filepath.Join("/proc/self/fd", fmt.Sprint(out.Fd())))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	require.Len(t, lines, 4, "%s", data)
	assert.Equal(t, "0 /dev/null", lines[0])
	assert.Contains(t, lines[1], "memfd")
	assert.Equal(t, "2 /dev/null", lines[2])
	assert.Contains(t, lines[3], "3 /")
}
