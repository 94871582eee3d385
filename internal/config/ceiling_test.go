package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

func (w *world) policyFile() string { return filepath.Join(filepath.Dir(w.s.Machine), "policy.yaml") }

func (w *world) policy(text string) *world { return w.write(w.policyFile(), text) }

func TestWithoutACeilingNothingIsClipped(t *testing.T) {
	w := newWorld(t).user("sandbox: {network: host, read: [/], debug: true}\n")
	c := w.load()
	assert.Empty(t, c.Clips())
	for _, text := range []string{"", "# nothing yet\n", "version: 1\n", "sandbox:\negress: {}\n"} {
		assert.Equal(t, sandbox.NetworkHost, w.policy(text).load().Sandbox.Network, text)
		assert.Empty(t, w.load().Clips())
	}
}

func TestACeilingThatCannotBeReadStopsEverything(t *testing.T) {
	w := newWorld(t)
	w.policy("").load() // the control
	var ceiling *CeilingError
	require.NoError(t, os.Remove(w.policyFile()))
	require.NoError(t, os.Symlink("nowhere", w.policyFile()))
	require.ErrorAs(t, w.fails(), &ceiling, "a link to nowhere is a ceiling that cannot be read")
	assert.Equal(t, w.policyFile(), ceiling.File)

	require.NoError(t, os.Remove(w.policyFile()))
	require.NoError(t, os.Mkdir(w.policyFile(), 0o755))
	var insecure *InsecureError
	require.ErrorAs(t, w.fails(), &insecure, "a folder is no ceiling")

	require.NoError(t, os.Remove(w.policyFile()))
	assert.Equal(t, `policy.yaml:2: sandbox: unknown key "netwrok" (did you mean "network"?)`, w.policy("sandbox:\n  netwrok: none\n").fails().Error())
	assert.Equal(t, "policy.yaml:1: not YAML: did not find expected node content", w.policy("sandbox: [\n").fails().Error())
}

func TestAMachineFolderThatIsAFileIsNoAbsence(t *testing.T) {
	w := newWorld(t)
	w.s.Machine = filepath.Join(w.write(filepath.Join(w.base, "file"), "").base, "file", "config.yaml")
	var e *CeilingError
	require.ErrorAs(t, w.fails(), &e)
	assert.Error(t, e.Err)
}

func TestWhatBoundsNothingIsNotInACeiling(t *testing.T) {
	err := newWorld(t).policy("profiles: {}\nfolders: {}\nrestart: {when: never}\nhooks: {}\nenv: x\ninstall: {prefer: newest}\nsandbox: {env: {set: {A: b}}}\n").fails()
	assert.Equal(t, `policy.yaml:1: "profiles" bounds nothing: it belongs into config.yaml
policy.yaml:2: "folders" bounds nothing: it belongs into config.yaml
policy.yaml:3: "restart" bounds nothing: it belongs into config.yaml
policy.yaml:4: "hooks" bounds nothing: it belongs into config.yaml
policy.yaml:5: "env" bounds nothing: it belongs into config.yaml
policy.yaml:6: install: unknown key "prefer"
policy.yaml:7: sandbox.env: unknown key "set"`, err.Error())
}

func TestTheExampleOfACeilingIsOne(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "policy.example.yaml"))
	require.NoError(t, err)
	top, err := readCeiling("policy.yaml", text, paths{home: "/home/u"})
	require.NoError(t, err)
	for _, section := range []string{"sandbox", "sandbox.limits", "egress", "egress.bounds", "install"} {
		for key := range keysOf(section) {
			_, ok := top.origin(section + "." + key)
			assert.True(t, ok || key == "env" || key == "limits" || key == "bounds" || key == "prefer" || key == "allow_also", "%s.%s", section, key)
		}
	}
	_, ok := top.origin("sandbox.env.pass")
	assert.True(t, ok)
}

func keysOf(section string) fields {
	return map[string]fields{
		"sandbox": sandboxKeys(paths{}), "sandbox.limits": limitKeys(), "egress": egressKeys(paths{}), "egress.bounds": boundKeys(), "install": installKeys(paths{}),
	}[section]
}

func TestACeilingForAConfigurationThatWasNotLoaded(t *testing.T) {
	w := newWorld(t).policy("sandbox: {network: none}\n")
	c := Default()
	require.NoError(t, c.HoldBelow(w.s.Machine, w.s.Home))
	require.NoError(t, c.Apply(Overrides{}))
	assert.Equal(t, sandbox.NetworkNone, c.Sandbox.Network)
	assert.Len(t, c.Clips(), 1)

	w.policy("sandbox: {network: [none]}\n")
	assert.Error(t, Default().HoldBelow(w.s.Machine, w.s.Home))
	assert.NoError(t, Default().HoldBelow("", ""))
}
