package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

func texts[T interface{ String() string }](all []T) []string {
	var s []string
	for _, v := range all {
		s = append(s, v.String())
	}
	return s
}

func TestNothingThereIsTheBuiltInPolicy(t *testing.T) {
	w := newWorld(t)
	c := w.load()
	assert.Empty(t, c.Files)
	assert.Equal(t, Default().Sandbox, c.Sandbox)
	assert.Equal(t, Default().Egress, c.Egress)
	assert.Equal(t, sandbox.NetworkAllowlist, c.Sandbox.Network)
	assert.Empty(t, c.Origins("sandbox.network"))

	for _, empty := range []string{"", "\n\n", "# only a comment\n", "---\n", "~\n", "sandbox:\negress:\nfolders:\nprofiles:\n"} {
		c = w.user(empty).load()
		assert.Equal(t, []string{w.s.User}, c.Files)
		assert.Equal(t, Default().Egress, c.Egress, empty)
	}
}

func TestEveryKeyIsReadAndTyped(t *testing.T) {
	w := newWorld(t).user(`
version: 1
sandbox:
  backend: bubblewrap
  network: none
  read: ["~/data", /srv/shared/]
  write: [/srv/out]
  hide: ["~"]
  project: false
  islands: ["~/work/results"]
  links: allow
  env: {pass: [LAB_TOKEN], set: {OMP_NUM_THREADS: 4, EMPTY: ""}}
  gpu: nvidia
  forward: [5432, "5433:db.lab.test:5432", "5434:[2001:db8::1]:5432"]
  publish: [8050, 8051:8050]
  limits: {memory: 2GiB, processes: 64, cpus: 1.5, tmp: 256MiB, shm: 0, best_effort: true}
  debug: true
egress:
  groups: [python]
  allow: [.allowed.test, "Data.Example.org:8080"]
  deny: [bad.allowed.test]
  allow_inward: {db.lab.test: 10.1.0.0/16}
  pin: {".allowed.test": "127.0.0.1:8080"}
  screen: strict
  credentials: []
  close_on_deny: false
  log: none
  bounds: {connections: 8, head: 32KiB, fields: 50, head_time: 5s, dial: 1m, idle: 1h}
install: {approve: never, prefer: newest, source: true, min_age: 0, index: "http://127.0.0.1:1/simple", uv: ~/bin/uv}
restart: {when: never}
hooks: {after_install: [], before_restart: [], after_restart: []}
`)
	c := w.load()
	home := w.s.Home
	assert.Equal(t, Sandbox{
		Backend: BackendBubblewrap, Network: sandbox.NetworkNone, Read: []string{filepath.Join(home, "data"), "/srv/shared"}, Write: []string{"/srv/out"}, Hide: []string{home},
		Islands: []string{filepath.Join(home, "work", "results")}, Links: "allow", Env: Env{Pass: []string{"LAB_TOKEN"}, Set: map[string]string{"OMP_NUM_THREADS": "4", "EMPTY": ""}}, GPU: "nvidia",
		Forward: []Forward{{5432, "127.0.0.1", 5432}, {5433, "db.lab.test", 5432}, {5434, "2001:db8::1", 5432}}, Publish: []Publish{{8050, 8050}, {8051, 8050}},
		Limits: sandbox.Limits{Memory: 2 << 30, Processes: 64, CPUs: 1.5, Tmp: 256 << 20, BestEffort: true}, Debug: true,
	}, c.Sandbox)
	assert.Equal(t, []string{".allowed.test", "data.example.org:8080"}, texts(c.Egress.Allow))
	assert.Equal(t, []string{"bad.allowed.test"}, texts(c.Egress.Deny))
	assert.Len(t, c.Egress.Inward, 1)
	assert.Len(t, c.Egress.Pins, 1)
	assert.Equal(t, egress.Screen("strict"), c.Egress.Screen)
	assert.Equal(t, egress.Bounds{Connections: 8, Head: 32 << 10, Fields: 50, HeadTime: 5 * time.Second, Dial: time.Minute, Idle: time.Hour}, c.Egress.Bounds)
	assert.Equal(t, Install{Approve: "never", Prefer: "newest", Source: true, Index: "http://127.0.0.1:1/simple", UV: filepath.Join(home, "bin", "uv")}, c.Install)
	assert.Equal(t, "never", c.Restart.When)
	assert.Equal(t, []Origin{{File: w.s.User, Line: 5}}, c.Origins("sandbox.network"))
	assert.Equal(t, "config.yaml:5", c.Origins("sandbox.network")[0].String())
}

const layers = `
sandbox: {read: [/user], hide: [/user/hidden], env: {pass: [B], set: {X: user, Y: user}}}
egress: {allow: [user.test], deny: [no-user.test], pin: {pinned.test: "127.0.0.1:2"}}
folders:
  ~/work: {env: work, egress: {allow: [work.test]}}
  ~/work/study:
    env: study
    sandbox: {network: none, read: [/study], env: {set: {Y: study}}}
    egress: {allow: [study.test], groups: []}
  ~/work/studying: {env: other}
profiles:
  open: {sandbox: {network: host}, egress: {deny: [no-open.test]}}
`

func TestLayersReplaceOrAdd(t *testing.T) {
	w := newWorld(t).user(layers).machine(`
sandbox: {network: allowlist, read: [/machine], env: {pass: [A], set: {X: machine}}}
egress: {allow: [machine.test], deny: [no-machine.test], groups: [r], pin: {pinned.test: "127.0.0.1:1", kept.test: "127.0.0.1:1"}}
`)
	w.s.Profile = "open"
	c := w.load()
	assert.Equal(t, "~/work/study", c.Folder)
	assert.Equal(t, "study", c.Env)
	assert.Equal(t, sandbox.NetworkHost, c.Sandbox.Network, "the profile comes after the folder")
	assert.Equal(t, []string{"/machine", "/user", "/study"}, c.Sandbox.Read)
	assert.Equal(t, []string{"study.test"}, texts(c.Egress.Allow), "allow is replaced")
	assert.Empty(t, c.Egress.Groups)
	assert.Equal(t, []string{"no-machine.test", "no-user.test", "no-open.test"}, texts(c.Egress.Deny))
	assert.Equal(t, Env{Pass: []string{"A", "B"}, Set: map[string]string{"X": "user", "Y": "study"}}, c.Sandbox.Env)
	assert.Equal(t, []string{"pinned.test → 127.0.0.1:2", "kept.test → 127.0.0.1:1"}, sortedDesc(texts(c.Egress.Pins)))
	assert.Equal(t, []Origin{{File: w.s.User, Line: 12}}, c.Origins("sandbox.network"), "a replaced value has one origin")
	assert.Len(t, c.Origins("sandbox.read"), 3, "an added list has them all")
}

func sortedDesc(s []string) []string {
	if len(s) == 2 && s[0] < s[1] {
		s[0], s[1] = s[1], s[0]
	}
	return s
}

func TestTheClosestFolderApplies(t *testing.T) {
	w := newWorld(t).user(layers)
	outside := filepath.Join(w.base, "elsewhere")
	require.NoError(t, os.Symlink(w.s.Folder, filepath.Join(w.base, "link")))
	for folder, env := range map[string]string{
		w.s.Folder:                                 "study",
		filepath.Join(w.s.Folder, "deep", "er"):    "study", // need not exist
		filepath.Join(w.s.Home, "work"):            "work",
		filepath.Join(w.s.Home, "work", "another"): "work",
		filepath.Join(w.s.Home, "workshop"):        "",
		filepath.Join(w.base, "link"):              "study", // resolved
		outside:                                    "",
		"":                                         "",
	} {
		w.s.Folder = folder
		assert.Equal(t, env, w.load().Env, folder)
	}
}

func TestAnEntryForALinkHoldsForWhatItLeadsTo(t *testing.T) {
	w := newWorld(t).user("folders: {~/link: {env: linked}}\n")
	require.NoError(t, os.Symlink(w.s.Folder, filepath.Join(w.s.Home, "link")))
	assert.Equal(t, "linked", w.load().Env)
}

func TestOneFolderInBothFiles(t *testing.T) {
	w := newWorld(t)
	w.machine("folders: {" + w.s.Folder + ": {env: machine, sandbox: {network: none}}}\n").user("folders: {~/work/study: {env: user}}\n")
	c := w.load()
	assert.Equal(t, "user", c.Env)
	assert.Equal(t, sandbox.NetworkNone, c.Sandbox.Network)
}

func TestAProfileThatNoFileHas(t *testing.T) {
	w := newWorld(t).user(layers)
	w.s.Profile = "opne"
	var e *ProfileError
	require.ErrorAs(t, w.fails(), &e)
	assert.Equal(t, []string{"open"}, e.Known)
	w.user("")
	assert.Equal(t, `no profile "opne": no file has any`, w.fails().Error())
}

func TestAFaultInAProfileThatIsNotUsedIsFound(t *testing.T) {
	err := newWorld(t).user("profiles:\n  later:\n    sandbox: {network: internet}\n").fails()
	assert.Contains(t, err.Error(), "config.yaml:3: profiles[later].sandbox.network:")
}

func TestWhatOnlyAnUnusedProfileAsksForIsNoFault(t *testing.T) {
	w := newWorld(t).user("profiles:\n  big:\n    install: {min_age: 7d}\n")
	w.load()
	w.s.Profile = "big"
	assert.Contains(t, w.fails().Error(), "config.yaml:3: install.min_age: not in this version")
}

func TestAFileLargerThanAnybodyWrites(t *testing.T) {
	err := newWorld(t).user(strings.Repeat("# comment\n", maxFile/10+1)).fails()
	assert.Equal(t, "config.yaml:1: larger than 1048576 bytes", err.Error())
}

func TestRulesHoldTheGroupsAndTheList(t *testing.T) {
	c := newWorld(t).user("egress: {groups: [python], allow: [.allowed.test], deny: [bad.allowed.test], pin: {.allowed.test: \"127.0.0.1:8080\"}}\n").load()
	rules := c.Rules()
	for host, want := range map[string]egress.Verdict{"pypi.org": egress.Allow, "a.allowed.test": egress.Allow, "bad.allowed.test": egress.Deny, "www.ncbi.nlm.nih.gov": egress.Deny} {
		target, err := egress.ParseHost(host, 443)
		require.NoError(t, err)
		assert.Equal(t, want, rules.Decide(target).Verdict, host)
	}
	rules.Deny[0] = rules.Allow[0]
	assert.Equal(t, "bad.allowed.test", c.Egress.Deny[0].String(), "the rules are the proxy's own copy")
}

// TestTheExampleIsTheBuiltInPolicy keeps the documentation true: what it shows as built in is what holds without a file.
func TestTheExampleIsTheBuiltInPolicy(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "config.example.yaml"))
	require.NoError(t, err)
	w := newWorld(t).user(string(text))
	w.s.Folder = w.base
	c := w.load()
	d := Default()
	assert.Equal(t, fmt.Sprintf("%+v", d.Sandbox), fmt.Sprintf("%+v", c.Sandbox))
	assert.Equal(t, fmt.Sprintf("%+v", d.Egress), fmt.Sprintf("%+v", c.Egress))
	assert.Equal(t, d.Install, c.Install)
	assert.Equal(t, d.Restart, c.Restart)

	w.s.Folder, w.s.Profile = filepath.Join(w.s.Home, "work", "study"), "offline"
	c = w.load()
	assert.Equal(t, "study", c.Env)
	assert.Equal(t, []string{"data.example.org"}, texts(c.Egress.Allow))
	assert.Equal(t, []string{filepath.Join(w.s.Home, "data")}, c.Sandbox.Read)
	assert.Equal(t, sandbox.NetworkNone, c.Sandbox.Network)
}

func TestTheExampleHasEveryKey(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "config.example.yaml"))
	require.NoError(t, err)
	for _, section := range []fields{layerKeys(paths{}), sandboxKeys(paths{}), limitKeys(), egressKeys(paths{}), boundKeys(), installKeys(paths{})} {
		for key := range section {
			assert.Regexp(t, `(?m)^ *(# )?`+key+`:`, string(text), key)
		}
	}
}
