package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// said are the clips with the ceiling's folder left out.
func (w *world) said(c *Config) []string {
	var out []string
	for _, clip := range c.Clips() {
		out = append(out, strings.ReplaceAll(clip.String(), filepath.Dir(w.s.Machine), "…"))
	}
	return out
}

// clips is one ceiling, what a user asks for, and what is said. What is said is also what was done: done shows it.
var clips = map[string]struct {
	policy, user string
	said         []string
	done         func(*Config) (got, want any)
}{
	"network": {
		"sandbox: {network: allowlist}", "sandbox:\n  network: host",
		[]string{"sandbox.network: host was asked for (config.yaml:2); …/policy.yaml:1 allows allowlist"},
		func(c *Config) (any, any) { return c.Sandbox.Network, sandbox.NetworkAllowlist },
	},
	"network, built in": {
		"sandbox: {network: none}", "",
		[]string{"sandbox.network: allowlist is built in; …/policy.yaml:1 allows none"},
		func(c *Config) (any, any) { return c.Sandbox.Network, sandbox.NetworkNone },
	},
	"a narrower network": {
		"sandbox: {network: allowlist}", "sandbox: {network: none}", nil,
		func(c *Config) (any, any) { return c.Sandbox.Network, sandbox.NetworkNone },
	},
	"off": {
		"sandbox: {backend: auto}", "sandbox: {backend: \"off\"}",
		[]string{"sandbox.backend: off was asked for (config.yaml:1); …/policy.yaml:1 allows auto"},
		func(c *Config) (any, any) { return c.Sandbox.Backend, BackendAuto },
	},
	"off, while anything else is bounded": {
		"\negress: {screen: strict}", "sandbox: {backend: \"off\"}\negress: {screen: strict}",
		[]string{"sandbox.backend: off was asked for (config.yaml:1); …/policy.yaml:2 allows what only walls hold, which leaves auto"},
		func(c *Config) (any, any) { return c.Sandbox.Backend, BackendAuto },
	},
	"off, where the administrator says so": {
		"sandbox: {backend: \"off\", debug: false}", "sandbox: {backend: \"off\"}", nil,
		func(c *Config) (any, any) { return c.Sandbox.Backend, BackendOff },
	},
	"off, where nothing of it is bounded": {
		"install: {approve: never}", "sandbox: {backend: \"off\"}\ninstall: {approve: never}", nil,
		func(c *Config) (any, any) { return c.Sandbox.Backend, BackendOff },
	},
	"the host's network round the proxy": {
		"egress: {deny: [evil.test]}", "sandbox: {network: host}",
		[]string{"sandbox.network: host was asked for (config.yaml:1); …/policy.yaml:1 allows what only the proxy holds, which leaves allowlist"},
		func(c *Config) (any, any) { return texts(c.Egress.Deny), []string{"evil.test"} },
	},
	"grants": {
		"sandbox: {read: [/srv/data, ~/share], write: [/scratch]}", "sandbox: {read: [/srv/data/x, /srv/database, ~/share, ~/, /scratch/in], write: [/scratch/out, /srv/data]}",
		[]string{
			"sandbox.read: /srv/database was asked for (config.yaml:1); …/policy.yaml:1 allows /srv/data, HOME/share",
			"sandbox.read: HOME was asked for (config.yaml:1); …/policy.yaml:1 allows /srv/data, HOME/share",
			"sandbox.write: /srv/data was asked for (config.yaml:1); …/policy.yaml:1 allows /scratch",
		},
		func(c *Config) (any, any) {
			return append(c.Sandbox.Read[:len(c.Sandbox.Read):len(c.Sandbox.Read)], c.Sandbox.Write...), []string{"/srv/data/x", filepath.Join(c.paths.home, "share"), "/scratch/in", "/scratch/out"}
		},
	},
	"no grant at all": {
		"sandbox: {write: []}", "sandbox: {write: [/scratch]}",
		[]string{"sandbox.write: /scratch was asked for (config.yaml:1); …/policy.yaml:1 allows none"},
		func(c *Config) (any, any) { return len(c.Sandbox.Write), 0 },
	},
	"what only takes away is added": {
		"sandbox: {hide: [/srv/secret], islands: [/srv/fixed]}\negress: {deny: [.evil.test]}", "sandbox: {hide: [/a]}\negress: {deny: [b.test]}", nil,
		func(c *Config) (any, any) {
			return [][]string{c.Sandbox.Hide, c.Sandbox.Islands, texts(c.Egress.Deny)}, [][]string{{"/a", "/srv/secret"}, {"/srv/fixed"}, {"b.test", ".evil.test"}}
		},
	},
	"switches": {
		"sandbox: {links: deny, debug: false, project: false, gpu: nvidia}", "sandbox: {links: allow, debug: true, gpu: amd}",
		[]string{
			"sandbox.links: allow was asked for (config.yaml:1); …/policy.yaml:1 allows deny",
			"sandbox.gpu: amd was asked for (config.yaml:1); …/policy.yaml:1 allows nvidia",
			"sandbox.debug: true was asked for (config.yaml:1); …/policy.yaml:1 allows false",
			"sandbox.project: true is built in; …/policy.yaml:1 allows false",
		},
		func(c *Config) (any, any) {
			s := c.Sandbox
			return []any{s.Links, s.Debug, s.Project, s.GPU}, []any{"deny", false, false, "nvidia"}
		},
	},
	"variables": {
		"sandbox: {env: {pass: [LAB]}}", "sandbox: {env: {pass: [LAB, TOKEN]}}",
		[]string{"sandbox.env.pass: TOKEN was asked for (config.yaml:1); …/policy.yaml:1 allows LAB"},
		func(c *Config) (any, any) { return c.Sandbox.Env.Pass, []string{"LAB"} },
	},
	"limits": {
		"sandbox:\n  limits: {memory: 4GiB, processes: 0, cpus: 2, tmp: 256MiB}", "sandbox: {limits: {memory: 8GiB, processes: 9, tmp: 64MiB, best_effort: true}}",
		[]string{
			"sandbox.limits.memory: 8GiB was asked for (config.yaml:1); …/policy.yaml:2 allows 4GiB",
			"sandbox.limits.cpus: no limit is built in; …/policy.yaml:2 allows 2",
		},
		func(c *Config) (any, any) {
			return c.Sandbox.Limits, sandbox.Limits{Memory: 4 << 30, Processes: 9, CPUs: 2, Tmp: 64 << 20, Shm: 1 << 30, BestEffort: true}
		},
	},
	"hosts": {
		"egress:\n  groups: [python]\n  allow: [.example.org, \"data.lab.test:443\"]", "egress: {groups: [python, github], allow: [a.example.org, .lab.test, evil.test]}",
		[]string{
			"egress.groups: github was asked for (config.yaml:1); …/policy.yaml:3 allows python, .example.org, data.lab.test:443, which leaves none",
			"egress.allow: .lab.test was asked for (config.yaml:1); …/policy.yaml:3 allows python, .example.org, data.lab.test:443, which leaves data.lab.test:443",
			"egress.allow: evil.test was asked for (config.yaml:1); …/policy.yaml:3 allows python, .example.org, data.lab.test:443, which leaves none",
		},
		func(c *Config) (any, any) {
			return append(c.Egress.Groups[:1:1], texts(c.Egress.Allow)...), []string{"python", "a.example.org", "data.lab.test:443"}
		},
	},
	"the rest of egress": {
		"egress: {allow_inward: {db.lab.test: 10.1.0.0/16}, pin: {}, screen: strict, bounds: {connections: 16, idle: 1h}}",
		"egress: {allow_inward: {db.lab.test: 10.1.2.0/24, x.lab.test: 10.1.2.0/24}, pin: {a.test: 127.0.0.1}, bounds: {idle: 2h}}",
		[]string{
			"egress.allow_inward: x.lab.test into 10.1.2.0/24 was asked for (config.yaml:1); …/policy.yaml:1 allows db.lab.test into 10.1.0.0/16",
			"egress.pin: a.test → 127.0.0.1 was asked for (config.yaml:1); …/policy.yaml:1 allows none",
			"egress.screen: normal is built in; …/policy.yaml:1 allows strict",
			"egress.bounds.connections: 256 is built in; …/policy.yaml:1 allows 16",
			"egress.bounds.idle: 2h0m0s was asked for (config.yaml:1); …/policy.yaml:1 allows 1h0m0s",
		},
		func(c *Config) (any, any) {
			e := c.Egress
			return []any{len(e.Inward), len(e.Pins), e.Screen, e.Bounds.Connections, e.Bounds.Idle}, []any{1, 0, screens[1], 16, time.Hour}
		},
	},
	"installs": {
		"install: {approve: never, source: false, index: \"https://u:pw@pypi.lab.test/simple\", uv: \"off\"}", "install: {source: true, index: \"https://u:pw@pypi.org/simple\"}",
		[]string{
			"install.approve: ask is built in; …/policy.yaml:1 allows never",
			"install.source: true was asked for (config.yaml:1); …/policy.yaml:1 allows false",
			"install.index: https://%E2%80%A6@pypi.org/simple was asked for (config.yaml:1); …/policy.yaml:1 allows https://%E2%80%A6@pypi.lab.test/simple",
			"install.uv: auto is built in; …/policy.yaml:1 allows off",
		},
		func(c *Config) (any, any) {
			return c.Install, Install{Approve: "never", Prefer: "additive", Index: "https://u:pw@pypi.lab.test/simple", UV: "off"}
		},
	},
}

func TestEveryClipIsDoneAndSaid(t *testing.T) {
	for name, tc := range clips {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).user(tc.user)
			c := w.load()
			got, want := tc.done(c)
			if len(tc.said) > 0 {
				assert.NotEqual(t, want, got, "the control: without the ceiling it is as asked")
			}
			c = w.policy(tc.policy).load()
			got, want = tc.done(c)
			assert.Equal(t, want, got)
			var said []string
			for _, s := range tc.said {
				said = append(said, strings.ReplaceAll(s, "HOME", w.s.Home))
			}
			assert.Equal(t, said, w.said(c))

			before := w.said(c)
			require.NoError(t, c.Apply(Overrides{}))
			assert.Equal(t, before, w.said(c), "a second look takes nothing more away")
		})
	}
}

func TestAGroupIsLoweredToTheHostsThatAreAllowed(t *testing.T) {
	w := newWorld(t).policy("egress: {allow: [pypi.org, other.test]}\n").user("egress: {groups: [python]}\n")
	c := w.load()
	assert.Empty(t, c.Egress.Groups)
	assert.Equal(t, []string{"pypi.org"}, texts(c.Egress.Allow))
	assert.Equal(t, []string{"egress.groups: python was asked for (config.yaml:1); …/policy.yaml:1 allows pypi.org, other.test, which leaves pypi.org"}, w.said(c))
}

func TestFlagsAreClippedAsWell(t *testing.T) {
	w := newWorld(t).policy("sandbox: {network: allowlist, read: [/srv], publish: []}\negress: {allow: [a.test]}\n").user("sandbox: {network: host, read: [/srv/x]}\negress: {groups: []}\n")
	c := w.load().Clone()
	require.NoError(t, c.Apply(Overrides{Network: "none", Read: []string{"/home/other"}, AllowHost: []string{"b.test"}, Publish: []string{"8050"}}))
	assert.Equal(t, sandbox.NetworkNone, c.Sandbox.Network)
	assert.Equal(t, []string{
		"sandbox.publish: 8050 was asked for (--publish); …/policy.yaml:1 allows none",
		"sandbox.read: /home/other was asked for (config.yaml:1, --read); …/policy.yaml:1 allows /srv",
		"egress.allow: b.test was asked for (--allow-host); …/policy.yaml:2 allows a.test, which leaves none",
	}, w.said(c), "the network of the file does not count any more")
	assert.Len(t, w.load().Clips(), 1)
}

func TestALinkIntoAFolderThatIsNotAllowedIsOutside(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{"open", "shut"} {
		require.NoError(t, os.Mkdir(filepath.Join(w.base, dir), 0o755))
	}
	require.NoError(t, os.Symlink("../shut", filepath.Join(w.base, "open", "way")))
	require.NoError(t, os.Symlink("open", filepath.Join(w.base, "also")))
	w.policy("sandbox: {read: [" + filepath.Join(w.base, "also") + "]}\n")
	w.user("sandbox: {read: [" + filepath.Join(w.base, "open", "way") + ", " + filepath.Join(w.base, "open") + "]}\n")
	assert.Equal(t, []string{filepath.Join(w.base, "open")}, w.load().Sandbox.Read)
}

// TestWhatTheCeilingAsksForAndIsNotThere: a demand of the administrator's that this version cannot meet stops the launch as the user's own would.
func TestWhatTheCeilingAsksForAndIsNotThere(t *testing.T) {
	for policy, want := range map[string]string{
		"install: {min_age: 7d}\n": "policy.yaml:1: install.min_age: not in this version: the age of files is not looked at",
	} {
		assert.Equal(t, want, newWorld(t).policy(policy).fails().Error())
	}
}
