package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

func TestAFoldersKeysAreSet(t *testing.T) {
	w := newWorld(t).user("folders:\n  ~/work/study:\n    env: old   # of the course\n\n    sandbox: {read: [~/data]}\n")
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Set("env", "new"), "folders:\n  ~/work/study:\n    env: new # of the course\n\n    sandbox: {read: [~/data]}\n"},
		{Set("read", "~/data", "../x", "/srv/d"), "folders:\n  ~/work/study:\n    env: new # of the course\n\n    sandbox: {read: [~/data, ~/work/x, /srv/d]}\n"},
		{Set("memory", "2GiB"), "folders:\n  ~/work/study:\n    env: new # of the course\n\n    sandbox: {read: [~/data, ~/work/x, /srv/d], limits: {memory: 2GiB}}\n"},
		{Unset("sandbox.read"), "folders:\n  ~/work/study:\n    env: new # of the course\n\n    sandbox: {limits: {memory: 2GiB}}\n"},
		{Set("pin", ".lab.test:443=127.0.0.1:8443"), "folders:\n  ~/work/study:\n    env: new # of the course\n\n    sandbox: {limits: {memory: 2GiB}}\n    egress:\n      pin:\n        .lab.test:443: 127.0.0.1:8443\n"},
		{Unset("pin", ".lab.test:443"), "folders:\n  ~/work/study:\n    env: new # of the course\n\n    sandbox: {limits: {memory: 2GiB}}\n    egress:\n      pin: {}\n"},
		{Unset("egress.pin"), "folders:\n  ~/work/study:\n    env: new # of the course\n\n    sandbox: {limits: {memory: 2GiB}}\n    egress: {}\n"},
	} {
		e, text := w.edit(c.change)
		require.Equal(t, c.want, text)
		assert.Equal(t, "~/work/study", e.Place)
		assert.Equal(t, w.load().Settings(), e.After.Settings())
	}
}

func TestAValueThatIsNoneIsNotWritten(t *testing.T) {
	const text = "folders: {~/work/study: {env: study}}\n"
	w := newWorld(t).user(text)
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Set("network", "internet"), `sandbox.network: network "internet" is none of none, allowlist, host`},
		{Set("netwrk", "host"), `unknown key "netwrk"`},
		{Set("limits", "1"), `unknown key "limits"`},
		{Set("network"), "sandbox.network takes one value, not 0"},
		{Set("set", "NAME"), "sandbox.env.set takes NAME=VALUE"},
		{Set("allow", "a.test", "*"), "egress.allow"},
		{Unset("read", "~/data"), "sandbox.read is taken out as a whole"},
	} {
		_, err := Edit(t.Context(), w.s, c.change)
		var refused *EditError
		require.ErrorAs(t, err, &refused)
		assert.Contains(t, err.Error(), "config.yaml is left as it was: ")
		assert.Contains(t, err.Error(), c.want)
		got, err := os.ReadFile(w.s.User)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
	}
}

func TestTakingOutWhatIsNotThereMakesNothing(t *testing.T) {
	w := newWorld(t)
	e, err := Edit(t.Context(), w.s, Unset("memory"))
	require.NoError(t, err)
	assert.False(t, e.Changed)
	assert.NoFileExists(t, w.s.User)
}

// TestEveryKeyCanBeSetOrIsLeftOut holds the table against what a file can have.
func TestEveryKeyCanBeSetOrIsLeftOut(t *testing.T) {
	byHand := map[string]bool{"egress.credentials": true, "hooks.after_install": true, "hooks.before_restart": true, "hooks.after_restart": true}
	var left []string
	for key := range settable {
		left = append(left, key)
	}
	for _, key := range left {
		want := map[shape]string{oneValue: "must be one value", manyWords: "must be a list", manyPairs: "must be a mapping"}[settable[key]]
		wrong := map[shape]string{oneValue: "[[]]", manyWords: "x", manyPairs: "x"}[settable[key]]
		assert.Contains(t, faultsOf(t, key, wrong), want, key)
	}
	var walk func(prefix string, keys []string)
	walk = func(prefix string, keys []string) {
		for _, k := range keys {
			full := dotted(prefix, k)
			if _, ok := settable[full]; ok || byHand[full] {
				continue
			}
			inner := knownIn(t, full)
			require.NotEmpty(t, inner, "%s can be written in a file and not set", full)
			walk(full, inner)
		}
	}
	walk("", knownIn(t, ""))
}

func faultsOf(t *testing.T, key, value string) string {
	t.Helper()
	root := &yaml.Node{Kind: yaml.MappingNode}
	d := &draft{doc: &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}, path: []string{"folders", "/x"}}
	m, name := d.holder(key)
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(value), &doc))
	d.set(m, name, doc.Content[0])
	text, err := encode(d.doc, 2)
	require.NoError(t, err)
	_, faults := read("config.yaml", text, paths{})
	return faults.Error()
}

// knownIn are the keys of a section of a folder; none where key is none.
func knownIn(t *testing.T, key string) (names []string) {
	t.Helper()
	p := paths{home: "/home/u"}
	sections := map[string]fields{
		"": scopeKeys(p), "sandbox": sandboxKeys(p), "sandbox.limits": limitKeys(), "egress": egressKeys(p), "egress.bounds": boundKeys(), "install": installKeys(p),
		"sandbox.env": {"pass": nil, "set": nil}, "restart": {"when": nil}, "hooks": {"after_install": nil, "before_restart": nil, "after_restart": nil},
	}
	for name := range sections[key] {
		names = append(names, name)
	}
	return names
}

func TestAKeyIsFoundByItsEnd(t *testing.T) {
	for name, want := range map[string]string{"env": "env", "memory": "sandbox.limits.memory", "limits.memory": "sandbox.limits.memory", "network": "sandbox.network", "deny": "egress.deny"} {
		got, err := Key(name)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := Key("mem")
	assert.ErrorContains(t, err, `unknown key "mem"`)
}

func TestSettingsSayWhereTheyComeFrom(t *testing.T) {
	w := newWorld(t).user("egress: {allow: [a.test]}\nfolders:\n  ~/work:\n    sandbox: {network: none, env: {set: {TOKEN: s3cret}}}\n    egress: {allow_also: [b.test]}\n")
	got := map[string]Setting{}
	for _, s := range w.load().Settings() {
		got[s.Key] = s
		assert.NotContains(t, s.String(), "s3cret")
	}
	assert.Equal(t, "none", got["sandbox.network"].String())
	assert.Equal(t, []Origin{{File: w.s.User, Line: 4}}, got["sandbox.network"].From)
	assert.Equal(t, []string{"a.test", "b.test"}, got["egress.allow"].Words)
	assert.Equal(t, []Origin{{File: w.s.User, Line: 1}, {File: w.s.User, Line: 5}}, got["egress.allow"].From)
	assert.Empty(t, got["egress.groups"].From, "built in")
	assert.Equal(t, "TOKEN", got["sandbox.env.set"].String())
	assert.Equal(t, filepath.Base(w.s.User), "config.yaml")
}
