package launcher

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

func pythonPlan(env map[string]string) *Plan {
	e := &envs.Environment{Name: "default", Language: envs.Python, Interpreter: envs.Interpreter{Path: "/usr/bin/python3", Version: "3.11.2"}}
	return &Plan{Environment: e, host: host{env: env}}
}

func TestVariables(t *testing.T) {
	host := map[string]string{
		"LC_ALL": "C", "TZ": "UTC", "MKL_NUM_THREADS": "2", "AWS_SESSION_TOKEN": "secret", "PATH": "/evil", "HOME": "/home/u", "HTTPS_PROXY": "http://proxy.test",
		"LD_PRELOAD": "/x.so", "PYTHONPATH": "/evil", "JPY_PARENT_PID": "77", "LANGUAGEX": "no", "ASKED": "for",
	}
	for _, c := range []struct {
		name    string
		change  func(*Config)
		present map[string]string
		absent  []string
	}{
		{
			"the built-in policy",
			func(*Config) {},
			map[string]string{
				"LC_ALL": "C", "TZ": "UTC", "MKL_NUM_THREADS": "2", "HOME": sandbox.HomeTarget, "JPY_PARENT_PID": "1", "PWD": "/work",
				"HTTPS_PROXY": "http://127.0.0.1:3128", "https_proxy": "http://127.0.0.1:3128", "PYTHONNOUSERSITE": "1",
			},
			[]string{"AWS_SESSION_TOKEN", "LD_PRELOAD", "PYTHONPATH", "LANGUAGEX", "ASKED", "LANG"},
		},
		{
			"what the operator passes and sets",
			func(c *Config) {
				c.Sandbox.Env.Pass = []string{"ASKED", "NOT_THERE"}
				c.Sandbox.Env.Set = map[string]string{"TZ": "CET", "HOME": "/home/u", "https_proxy": "http://elsewhere.test"}
			},
			map[string]string{"ASKED": "for", "TZ": "CET", "HOME": sandbox.HomeTarget, "https_proxy": "http://127.0.0.1:3128"},
			[]string{"NOT_THERE"},
		},
		{"no network", func(c *Config) { c.Sandbox.Network = sandbox.NetworkNone }, nil, []string{"HTTPS_PROXY", "https_proxy", "NO_PROXY"}},
		{"the host's network", func(c *Config) { c.Sandbox.Network = sandbox.NetworkHost }, nil, []string{"HTTPS_PROXY", "https_proxy", "NO_PROXY"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := DefaultConfig()
			c.change(cfg)
			got := pythonPlan(host).variables(cfg, "/work")
			for name, want := range c.present {
				assert.Equal(t, want, got[name], name)
			}
			for _, name := range c.absent {
				assert.NotContains(t, got, name)
			}
			assert.NotContains(t, got["PATH"], "/evil")
		})
	}
	got := pythonPlan(nil).variables(DefaultConfig(), "")
	assert.Equal(t, "C.UTF-8", got["LANG"], "a kernel without a locale cannot write what it prints")
	assert.NotContains(t, got, "PWD")
}

func TestOurProgramIsFoundAfterAllOthers(t *testing.T) {
	assert.Equal(t, "/e/bin:/usr/local/bin:/usr/bin:/bin:"+sandbox.BinDir, searched("linux", "/e/bin", "/x"))
	assert.Equal(t, "/e/bin:/usr/local/bin:/usr/bin:/bin", searched("darwin", "/e/bin", "/x"))
}

func TestALinkToAFolderHasItsHome(t *testing.T) {
	e := &envs.Environment{Name: "default", Language: envs.Python}
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, link))
	assert.Equal(t, keptHome("/s", e, real), keptHome("/s", e, link))
	assert.NotEqual(t, keptHome("/s", e, real), keptHome("/s", e, filepath.Join(link, "other")))
}

func TestKeptHomesAreApart(t *testing.T) {
	python, r := &envs.Environment{Name: "a", Language: envs.Python}, &envs.Environment{Name: "a", Language: envs.R}
	other := &envs.Environment{Name: "b", Language: envs.Python}
	seen := map[string]bool{}
	for _, p := range []string{keptHome("/s", python, "/w"), keptHome("/s", python, "/w/x"), keptHome("/s", r, "/w"), keptHome("/s", other, "/w"), keptHome("/s", python, "")} {
		assert.False(t, seen[p], p)
		seen[p] = true
		assert.True(t, strings.HasPrefix(p, "/s/homes/"), p)
	}
	assert.Equal(t, keptHome("/s", python, "/w"), keptHome("/s", python, "/w"))
}

func TestTheKernelIsGivenItsOwnConnectionFile(t *testing.T) {
	for _, language := range envs.Languages() {
		e := &envs.Environment{Name: "x", Language: language, Interpreter: envs.Interpreter{Path: "/opt/bin/it", Version: "4.2.0"}}
		argv := kernelCommand(e)
		assert.Contains(t, argv, privateConnection)
		assert.NotContains(t, strings.Join(argv, " "), "{connection_file}")
	}
	c := connection("/run/user/1/k", "ipc", 1, 2, 3, 4, 5)
	for network, want := range map[sandbox.Network][2]string{
		sandbox.NetworkNone: {"tcp", "127.0.0.1"}, sandbox.NetworkAllowlist: {"tcp", "127.0.0.1"}, sandbox.NetworkHost: {"ipc", "/run/user/1/k"},
	} {
		p := &Plan{Connection: c, Sandbox: &sandbox.Plan{Network: network}}
		data, err := p.inside()
		require.NoError(t, err)
		got, err := jupyter.ParseConnection("inside", data)
		require.NoError(t, err)
		assert.Equal(t, want, [2]string{got.Transport, got.IP}, network)
		assert.Equal(t, c.Ports(), got.Ports())
		assert.Equal(t, c.Key, got.Key)
	}
	assert.Equal(t, "ipc", c.Transport, "the client's is left as it is")
}

func TestEgressIsSaid(t *testing.T) {
	rule := func(s string) egress.Rule {
		r, err := egress.ParseRule(s)
		require.NoError(t, err)
		return r
	}
	pin, err := egress.ParsePin(".lab.test:443", "127.0.0.1:8443")
	require.NoError(t, err)
	p := &Plan{Rules: &egress.Rules{Allow: []egress.Rule{rule("a.test"), rule(".lab.test")}, Deny: []egress.Rule{rule("x.lab.test")}, Pins: []egress.Pin{pin}}}
	text := strings.Join(p.EgressSentences(), "\n")
	for _, want := range []string{"It may reach: a.test", ".lab.test", "Never: x.lab.test", "Pinned: ", "127.0.0.1:8443"} {
		assert.Contains(t, text, want)
	}
	assert.Equal(t, []string{"It may reach no host: the allowlist is empty."}, (&Plan{Rules: &egress.Rules{}}).EgressSentences())
	assert.Empty(t, (&Plan{}).EgressSentences())
}

func TestNoGrantMayTouchWhatProgramsOutsideBelieve(t *testing.T) {
	env := map[string]string{"JUPYTER_DATA_DIR": "/srv/jupyter", "JUPYTER_PATH": "/a:relative:/b", "XDG_RUNTIME_DIR": "/run/user/7", "IPYTHONDIR": "relative"}
	h := host{env: env, dirs: dirs.Dirs{Home: "/home/u", Config: "/home/u/.config/kernel-launch", Data: "/d", State: "/s", Cache: "/c", Runtime: "/run/user/7/kernel-launch", Machine: "/etc/kernel-launch"}}
	got := own(h)
	assert.Subset(t, got, []string{
		"/home/u/.config/kernel-launch", "/d", "/s", "/c", "/run/user/7/kernel-launch", "/etc/kernel-launch",
		"/home/u/.jupyter", "/home/u/.local/share/jupyter", "/home/u/.ipython", "/srv/jupyter", "/a", "/b", "/run/user/7/jupyter",
	})
	for _, p := range got {
		assert.True(t, filepath.IsAbs(p), p)
	}
}

func TestTheInstallSandboxHasNoNetworkAndShowsOnlyWhatTheToolNames(t *testing.T) {
	b := toolbox{dirs: dirs.Dirs{Home: "/home/u"}, helper: "/bin/helper"}
	p := b.policy(envs.Tool{ReadOnly: []envs.Bind{{Source: "/opt/py", Target: "/opt/py"}, {Source: "/data/x", Target: "/x"}}, Writable: []envs.Bind{{Source: "/data/stage", Target: "/stage"}}})
	assert.Equal(t, sandbox.NetworkNone, p.Network)
	assert.Equal(t, []string{"/opt/py"}, p.Prefixes)
	assert.Equal(t, []sandbox.Tree{{Source: "/data/x", Target: "/x"}}, p.Trees)
	assert.Equal(t, []sandbox.Tree{{Source: "/data/stage", Target: "/stage"}}, p.Writable)
	assert.Empty(t, p.Folder)
	assert.Empty(t, p.KeptHome)
	assert.Equal(t, "/home/u", p.RealHome)
}

func TestHowAToolFailed(t *testing.T) {
	tool := envs.Tool{Argv: []string{"pip", "install"}}
	var failed *envs.ToolError
	require.ErrorAs(t, failedTool(tool, &link.FailedError{Stage: "exec", Status: 127, Text: "pip is not there"}), &failed)
	assert.Equal(t, 127, failed.Status)
	assert.Contains(t, failed.Tail, "pip is not there")
	assert.Equal(t, tool.Argv, failed.Argv)
	other := failedTool(tool, link.ErrClosed)
	assert.False(t, errors.As(other, &failed))
	assert.ErrorIs(t, other, link.ErrClosed)
}

func TestBackends(t *testing.T) {
	cfg := DefaultConfig()
	for _, name := range []string{"", "auto", sandbox.Default().Name()} {
		cfg.Sandbox.Backend = config.Backend(name)
		b, err := backendFor(sandbox.Default(), cfg)
		require.NoError(t, err)
		assert.Equal(t, sandbox.Default().Name(), b.Name())
	}
	for _, name := range []string{"off", "chroot"} {
		cfg.Sandbox.Backend = config.Backend(name)
		_, err := backendFor(sandbox.Default(), cfg)
		var unsupported *sandbox.UnsupportedError
		require.ErrorAs(t, err, &unsupported, name)
		assert.Equal(t, name, unsupported.Value)
	}
}

func TestChosenPortsDifferAndGivenOnesStay(t *testing.T) {
	var a, b, c int
	d := 4711
	require.NoError(t, choosePorts(&a, &b, &c, &d))
	assert.Equal(t, 4711, d)
	seen := map[int]bool{a: true, b: true, c: true}
	assert.Len(t, seen, 3)
	assert.NotContains(t, seen, 0)
}

func TestASetIsBounded(t *testing.T) {
	s := newSet(2)
	assert.True(t, s.add("a"))
	assert.False(t, s.add("a"))
	assert.True(t, s.add("b"))
	assert.False(t, s.add("c"), "what a kernel chooses cannot fill this process")
}

func TestARecordThatWasRemovedIsNotWrittenAgain(t *testing.T) {
	d, k := stand(t)
	r, err := register(k)
	require.NoError(t, err)
	r.remove()
	r.update(Running, k.plan)
	left, err := os.ReadDir(filepath.Join(d.Runtime, "kernels"))
	require.NoError(t, err)
	assert.Empty(t, left)
	var none *record
	none.update(Running, k.plan) // a command has none
}

func TestAKernelThatEndsAtOnceIsNotListedForEver(t *testing.T) {
	d, k := stand(t)
	k.finished = true
	require.NoError(t, k.enlist())
	left, err := os.ReadDir(filepath.Join(d.Runtime, "kernels"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestARequestThatIsNoJSONIsAnswered(t *testing.T) {
	_, k := stand(t)
	r, err := register(k)
	require.NoError(t, err)
	defer r.remove()
	conn, err := dialUnix(t.Context(), r.path(".sock"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("interrupt\n"))
	require.NoError(t, err)
	var reply Reply
	require.NoError(t, json.NewDecoder(conn).Decode(&reply))
	assert.Equal(t, "the request cannot be read: invalid character 'i' looking for beginning of value", reply.Error)
	assert.Equal(t, Running, reply.State)
}
