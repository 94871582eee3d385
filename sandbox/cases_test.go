package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/cases"
)

// planCase is a row of kind policy_to_argv of testdata/cases/sandbox.json: a machine, a policy in the words of whoever met the problem, and what must come of it.
type planCase struct {
	ID    string
	Input struct {
		Kind   string
		FS     map[string]string
		Policy struct {
			Network                           Network
			Hide, Readable, Writable, Protect []string
		}
		SelfExe     string   `json:"self_exe"`
		HostSockets []string `json:"host_sockets"`
	}
	Expected struct {
		Verdict     string
		SelfVisible bool              `json:"self_visible_inside"`
		Result      map[string]string // for each protected path
		ArgvHas     []string          `json:"argv_has"`
		Readable    []string          `json:"files_readable_inside"`
		NeverBoth   []string          `json:"never_both"`
	}
}

func TestPlanCases(t *testing.T) {
	cases.RunSome(t, cases.Runners[planCase]{"policy_to_argv": func(t *testing.T, row planCase) { row.run(t) }}, "sandbox.json")
}

func (row planCase) run(t *testing.T) {
	f := row.facts()
	p := row.policy(f)
	require.Equal(t, "launch", row.Expected.Verdict)
	for _, network := range row.networks() {
		p.Network = network
		plan := compile(t, p, f)
		for _, part := range row.Expected.ArgvHas {
			assert.Contains(t, text(plan), part)
		}
		assert.Equal(t, row.Expected.SelfVisible, p.Helper != "" && row.reads(plan, f, HelperTarget) == p.Helper, "the program itself")
		for _, path := range row.Expected.Readable {
			assert.NotEmpty(t, row.reads(plan, f, path), path)
		}
		if len(row.Expected.NeverBoth) > 0 {
			row.eachNameOnce(t, plan)
		}
		row.protected(t, plan)
		row.unreachable(t, plan, f)
	}
}

// facts are the row's files on an ordinary machine of the user u1.
func (row planCase) facts() Facts {
	f := machine("/home/u1", "/data/envs/default", "/srv/p", "/home")
	f.Homes, f.User = []string{"/home/u1"}, "u1"
	for path, what := range row.Input.FS {
		if to, ok := strings.CutPrefix(what, "symlink "); ok {
			to, _, _ = strings.Cut(strings.TrimPrefix(to, "to "), " ")
			real := joined(path, to)
			f.Paths[path] = Entry{Kind: EntryFile, Resolved: real, Link: to}
			if filepath.Dir(path) == "/" {
				f.Paths[path] = Entry{Kind: EntryFolder, Resolved: real, Link: to}
			}
		}
	}
	if row.Input.SelfExe != "" {
		f = f.with(row.Input.SelfExe + "!")
	}
	for _, socket := range row.Input.HostSockets {
		f.Paths[socket] = Entry{Kind: EntrySocket, Resolved: socket}
	}
	return f
}

// policy says the row's in today's words: the system is shown whatever a policy says, so it is no grant; a home is never granted, but covered, and the
// command gets one of its own; what is protected are islands, which are folders that exist.
func (row planCase) policy(f Facts) Policy {
	p := Policy{Hide: row.Input.Policy.Hide, Helper: row.Input.SelfExe, RealHome: f.Homes[0]}
	for _, path := range row.Input.Policy.Readable {
		if !inList(path, systemPatterns(true)) {
			p.Read = append(p.Read, path)
		}
	}
	for _, path := range row.Input.Policy.Writable {
		if !slices.Contains(f.Homes, path) {
			p.Write = append(p.Write, path)
		}
	}
	for _, path := range row.Input.Policy.Protect {
		if f.Paths[path].Kind == EntryFolder {
			p.Islands = append(p.Islands, path)
		}
	}
	return p
}

// networks: a resolver is there with the host's network alone; what holds for one network with sockets of the host must hold for all.
func (row planCase) networks() []Network {
	switch {
	case len(row.Input.HostSockets) > 0:
		return []Network{NetworkNone, NetworkAllowlist, NetworkHost}
	case slices.Contains(row.Expected.Readable, "/etc/resolv.conf"):
		return []Network{NetworkHost}
	}
	return []Network{NetworkNone}
}

// reads is the file of the host that a path inside leads to, empty when it leads to none.
func (row planCase) reads(plan *Plan, f Facts, path string) string {
	for range 10 {
		m := innermost(plan, path)
		switch {
		case m.Kind == MountLink && m.Target == path:
			path = joined(path, m.Source)
		case m.shows() || m.Kind == MountCopy:
			return m.Source + strings.TrimPrefix(path, m.Target)
		default:
			return ""
		}
	}
	return ""
}

// innermost is what is seen at a path: later mounts cover earlier ones.
func innermost(plan *Plan, path string) Mount {
	var out Mount
	for _, m := range plan.Mounts {
		if m.Kind != MountSeal && within(path, m.Target) {
			out = m
		}
	}
	return out
}

func (row planCase) eachNameOnce(t *testing.T, plan *Plan) {
	made := map[string]MountKind{}
	for _, m := range plan.Mounts {
		if other, twice := made[m.Target]; twice && m.Kind != MountSeal {
			assert.Equal(t, m.Kind, other, m.Target)
		}
		made[m.Target] = m.Kind
	}
}

// protected: nothing is mounted over a link or below what is missing, which bubblewrap cannot; a path that the host has cannot be written; one that is
// missing is said to be unprotected.
func (row planCase) protected(t *testing.T, plan *Plan) {
	require.Len(t, row.Expected.Result, len(row.Input.Policy.Protect))
	for path, want := range row.Expected.Result {
		for _, m := range plan.Mounts {
			assert.NotEqual(t, path, m.Target)
		}
		if strings.Contains(want, "or reported as unprotected") {
			assert.Equal(t, MountReadWrite, innermost(plan, path).Kind)
			assert.NotEmpty(t, guarantee(t, plan.Missing, "later-islands").Text)
			continue
		}
		real := joined(path, strings.Fields(strings.TrimPrefix(row.Input.FS[path], "symlink to "))[0])
		for _, at := range []string{path, real} {
			assert.NotEqual(t, MountReadWrite, innermost(plan, at).Kind, at)
		}
	}
}

// unreachable: which variables that name such sockets are passed is decided by whoever makes the policy.
func (row planCase) unreachable(t *testing.T, plan *Plan, f Facts) {
	for _, socket := range row.Input.HostSockets {
		assert.Empty(t, row.reads(plan, f, socket), socket)
		_, err := Compile(Policy{Read: []string{socket}}, f)
		assert.Error(t, err, "%s is not shown by a grant either", socket)
	}
	if len(row.Input.HostSockets) > 0 && plan.Network == NetworkHost {
		assert.True(t, plan.Landlock.ScopeAbstract)
		f.Landlock = 0
		guarantee(t, compile(t, Policy{Network: NetworkHost}, f).Missing, "abstract-sockets")
	}
}
