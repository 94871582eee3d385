package config

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

func TestFlagsAdd(t *testing.T) {
	w := newWorld(t).user("sandbox: {network: none, read: [/a], env: {pass: [A], set: {X: file}}, limits: {best_effort: true}}\negress: {allow: [a.test]}\n")
	c := w.load()
	require.NoError(t, c.Apply(Overrides{
		Network: "allowlist", AllowHost: []string{"b.test"}, Read: []string{"data", "~/more"}, Write: []string{"/out"}, PassEnv: []string{"B"}, SetEnv: []string{"X=flag", "Y=a=b"},
		Memory: "1GiB", Processes: "10", CPUs: "0.5", GPU: "none", Sandbox: "off",
	}))
	assert.Equal(t, sandbox.NetworkAllowlist, c.Sandbox.Network)
	assert.Equal(t, []string{"a.test", "b.test"}, texts(c.Egress.Allow))
	assert.Equal(t, []string{"/a", filepath.Join(w.s.Folder, "data"), filepath.Join(w.s.Home, "more")}, c.Sandbox.Read)
	assert.Equal(t, []string{"/out"}, c.Sandbox.Write)
	assert.Equal(t, Env{Pass: []string{"A", "B"}, Set: map[string]string{"X": "flag", "Y": "a=b"}}, c.Sandbox.Env)
	assert.Equal(t, sandbox.Limits{Memory: 1 << 30, Processes: 10, CPUs: 0.5, Tmp: 1 << 30, Shm: 1 << 30, BestEffort: true}, c.Sandbox.Limits)
	assert.Equal(t, BackendOff, c.Sandbox.Backend)
	assert.Equal(t, "--network", c.Origins("sandbox.network")[0].String())
	assert.Equal(t, []Origin{{File: w.s.User, Line: 1}, {Flag: "--read"}, {Flag: "--read"}}, c.Origins("sandbox.read"))
}

func TestNoFlagsChangeNothing(t *testing.T) {
	w := newWorld(t).user("sandbox: {network: none}\n")
	c := w.load()
	require.NoError(t, c.Apply(Overrides{}))
	assert.Equal(t, w.load(), c)
}

func TestEveryFaultyFlagIsSaid(t *testing.T) {
	c := newWorld(t).load()
	err := c.Apply(Overrides{
		Network: "allow", AllowHost: []string{"*", "ok.test"}, Read: []string{""}, PassEnv: []string{"A=B"}, SetEnv: []string{"NAME", "B C=hunter2", "D=x\x00hunter2"},
		Forward: []string{"0"}, Publish: []string{"x"}, Memory: "lots", Processes: "many", CPUs: "-1", GPU: "intel", Sandbox: "bubblewrap",
	})
	var faults Faults
	require.ErrorAs(t, err, &faults)
	var flags []string
	for _, f := range faults {
		flags = append(flags, f.Flag)
	}
	assert.Equal(t, []string{
		"--network", "--memory", "--processes", "--cpus", "--gpu", "--sandbox", "--allow-host", "--read", "--pass-env", "--set-env", "--set-env", "--set-env", "--forward", "--publish",
	}, flags)
	assert.NotContains(t, err.Error(), "hunter2", "a value given by --set-env can be a secret")
	assert.Contains(t, err.Error(), `--sandbox: unknown sandbox "bubblewrap"; it is one of: auto, off`)
}

func TestAFlagOnTopOfWhatThisVersionCannotDo(t *testing.T) {
	c := &Config{Install: Install{MinAge: time.Hour}}
	err := c.Apply(Overrides{Memory: "1GiB", Forward: []string{"5432", "5432:db.lab.test:5433"}})
	require.ErrorContains(t, err, "install.min_age: not in this version: the age of files is not looked at")
	assert.Equal(t, []Forward{{5432, "127.0.0.1", 5432}, {5432, "db.lab.test", 5433}}, c.Sandbox.Forward)
}

func TestACloneIsNotChangedByFlags(t *testing.T) {
	w := newWorld(t).user("sandbox: {read: [/a, /b, /c], env: {pass: [A], set: {X: file}}}\negress: {allow: [a.test, b.test, c.test]}\n")
	c := w.load()
	flags := Overrides{AllowHost: []string{"d.test"}, Read: []string{"/d"}, PassEnv: []string{"B"}, SetEnv: []string{"X=flag"}}
	first, second := c.Clone(), c.Clone()
	require.NoError(t, first.Apply(flags))
	require.NoError(t, second.Apply(Overrides{Read: []string{"/e"}}))
	assert.Equal(t, w.load(), c)
	assert.Equal(t, []string{"/a", "/b", "/c", "/d"}, first.Sandbox.Read)
	assert.Equal(t, []string{"/a", "/b", "/c", "/e"}, second.Sandbox.Read)
}

func TestFlagsOnAConfigurationWrittenAsALiteral(t *testing.T) {
	c := &Config{}
	require.NoError(t, c.Apply(Overrides{SetEnv: []string{"A=b"}, Network: "none"}))
	assert.Equal(t, map[string]string{"A": "b"}, c.Sandbox.Env.Set)
	require.NoError(t, c.Apply(Overrides{Publish: []string{"80"}}))
	assert.Equal(t, []Publish{{80, 80}}, c.Sandbox.Publish)
}
