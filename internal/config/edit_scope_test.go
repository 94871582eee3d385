package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatWasAllowedStaysAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		scope     Scope
		old, want string
		kept      []string
	}{
		"a folder without a list": {
			Scope{},
			"egress: {allow: [all.test]}\n",
			"egress: {allow: [all.test]}\nfolders:\n  \"~/work/study\":\n    egress:\n      allow_also: [n.test]\n",
			[]string{"all.test"},
		},
		"a folder with a list of its own": {
			Scope{},
			"egress: {allow: [all.test]}\nfolders: {\"~/work/study\": {egress: {allow: [own.test]}}}\n",
			"egress: {allow: [all.test]}\nfolders: {\"~/work/study\": {egress: {allow: [own.test, n.test]}}}\n",
			[]string{"own.test"},
		},
		"the entry of a folder around it": {
			Scope{},
			"folders:\n  ~/work: {env: study, egress: {allow: [own.test]}}\n",
			"folders:\n  ~/work: {env: study, egress: {allow: [own.test, n.test]}}\n",
			[]string{"own.test"},
		},
		"an environment": {
			Scope{Env: "default"},
			"folders:\n  ~/work: {egress: {allow: [own.test]}}\n",
			"folders:\n  ~/work: {egress: {allow: [own.test]}}\nenvironments:\n  default:\n    egress:\n      allow_also: [n.test]\n",
			[]string{"own.test"},
		},
		"everywhere": {everywhere, "egress: {allow: [all.test]}\n", "egress: {allow: [all.test, n.test]}\n", []string{"all.test"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).user(c.old)
			require.False(t, w.allows("n.test"))
			_, text := w.edit(Allow(c.scope, rules(t, "n.test")...))
			assert.Equal(t, c.want, text)
			for _, host := range append(c.kept, "n.test") {
				assert.True(t, w.allows(host), host)
			}
			_, _ = w.edit(Deny(c.scope, rules(t, "n.test")...))
			assert.False(t, w.allows("n.test"))
			_, _ = w.edit(Allow(c.scope, rules(t, "n.test")...))
			assert.True(t, w.allows("n.test"))
		})
	}
}

func TestAListOfTheMachineIsNotReplaced(t *testing.T) {
	w := newWorld(t).machine("egress: {allow: [machine.test]}\nfolders: {\"~/work\": {env: study}}\n")
	_, text := w.edit(Allow(everywhere, rules(t, "n.test")...))
	assert.Equal(t, "egress:\n  allow_also: [n.test]\n", text)
	e, text := w.edit(Allow(Scope{}, rules(t, "f.test")...))
	assert.Equal(t, "egress:\n  allow_also: [n.test]\nfolders:\n  \"~/work\":\n    egress:\n      allow_also: [f.test]\n", text)
	assert.Equal(t, "~/work", e.Place)
	assert.Equal(t, "study", w.load().Env, "the machine's entry for the folder still holds")
	for _, host := range []string{"machine.test", "n.test", "f.test"} {
		assert.True(t, w.allows(host), host)
	}
}

func TestAllowAlsoAddsWhereverItStands(t *testing.T) {
	w := newWorld(t).user("egress: {allow_also: [b.test], allow: [a.test]}\nfolders: {\"~/work/study\": {egress: {allow_also: [c.test]}}}\n")
	assert.Equal(t, rules(t, "a.test", "b.test", "c.test"), w.load().Egress.Allow)
	require.Len(t, w.load().Origins("egress.allow"), 3)
	w.user("egress: {allow: [a.test], allow_also: [b.test]}\nfolders: {\"~/work/study\": {egress: {allow: [c.test]}}}\n")
	assert.Equal(t, rules(t, "c.test"), w.load().Egress.Allow, "allow replaces all that is below")
}

func TestAnEnvironmentIsALayer(t *testing.T) {
	w := newWorld(t).user(`
sandbox: {gpu: none}
folders: {"~/work": {env: study, sandbox: {gpu: nvidia}}}
environments:
  study: {sandbox: {gpu: amd}, egress: {allow_also: [s.test]}}
  other: {egress: {allow_also: [o.test]}}
  default: {egress: {allow_also: [d.test]}}
profiles: {p: {env: other}, q: {sandbox: {gpu: none}}}
`)
	assert.Equal(t, "amd", w.load().Sandbox.GPU, "stronger than the folder")
	assert.True(t, w.allows("s.test"), "the folder's environment")
	w.s.Env = "other"
	assert.True(t, w.allows("o.test"), "the one that was asked for")
	w.s.Env, w.s.Profile = "", "q"
	assert.Equal(t, "none", w.load().Sandbox.GPU, "weaker than the profile")
	w.s.Profile = "p"
	assert.True(t, w.allows("o.test"), "the profile's")
	assert.False(t, w.allows("s.test"))
	w.s.Profile, w.s.Folder = "", w.s.Home
	assert.True(t, w.allows("d.test"), "default, where none is named")
}

func TestAnEnvironmentsFaultsAreFound(t *testing.T) {
	w := newWorld(t).user("environments:\n  ../x: {}\n  a: {env: b}\n  c: {install: {}}\n  d: {egress: {alow: []}}\n")
	assert.EqualError(t, w.fails(), `config.yaml:2: environments: "../x" is no name of an environment: letters, digits, ".", "_" and "-", the first a letter or digit, 64 at most
config.yaml:3: environments[a]: unknown key "env"
config.yaml:4: environments[c]: unknown key "install"
config.yaml:5: environments[d].egress: unknown key "alow" (did you mean "allow"?)`)
}

func TestAnEditThatWouldNotHoldIsNotMade(t *testing.T) {
	w := newWorld(t).user("egress: {deny: [.x.test, b.test]}\n")
	w.write(filepath.Join(filepath.Dir(w.s.Machine), "policy.yaml"), "egress: {allow: [.ok.test, \".x.test\"]}\n")
	before, err := os.ReadFile(w.s.User)
	require.NoError(t, err)
	_, err = Edit(t.Context(), w.s, Allow(everywhere, rules(t, "a.ok.test", "evil.test")...))
	var clipped *ClippedError
	require.ErrorAs(t, err, &clipped)
	require.Len(t, clipped.Clips, 1)
	assert.Contains(t, err.Error(), "evil.test would not be allowed: "+filepath.Dir(w.s.Machine)+"/policy.yaml:1 allows .ok.test, .x.test")

	_, err = Edit(t.Context(), w.s, Allow(Scope{}, rules(t, "a.x.test")...))
	var denied *DeniedError
	require.ErrorAs(t, err, &denied)
	assert.EqualError(t, err, "a.x.test would stay denied by the rule .x.test (config.yaml:1)")
	after, err := os.ReadFile(w.s.User)
	require.NoError(t, err)
	assert.Equal(t, before, after)

	_, text := w.edit(Allow(everywhere, rules(t, "a.ok.test")...))
	assert.Equal(t, "egress: {deny: [.x.test, b.test], allow: [a.ok.test]}\n", text)
}
