package restart

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/cases"
)

// oneCase is a row of testdata/cases/restart.json. Fields whose shape depends on input.kind stay raw.
type oneCase struct {
	ID    string
	Input struct {
		Kind           string
		Requested      []string
		Before, After  map[string]json.RawMessage
		Steps          []struct{ Before, After map[string]string }
		Host           map[string]string
		OwnedBefore    map[string]string `json:"owned_before"`
		OwnedAfter     map[string]string `json:"owned_after"`
		ResolvedBefore map[string]string `json:"resolved_before"`
		ResolvedAfter  map[string]string `json:"resolved_after"`
	}
	Expected struct {
		Verdict      json.RawMessage
		Additive     *bool
		Changed      map[string][2]string
		Added        []string
		MessageNames []string `json:"message_names"`
		Flag, Hint   string
		OwnedSays    string `json:"owned_diff_says"`
		ResolvedSays string `json:"resolved_diff_says"`
		Reason       string
	}
}

// accepted are the verdicts that a row's word may mean.
var accepted = map[string][]Verdict{
	"restart":              {Required},
	"restart-to-use":       {RestartToUse},
	"keep running":         {Keep},
	"additive with a hint": {Keep},
}

func TestCases(t *testing.T) {
	cases.Run(t, "restart.json", cases.Runners[oneCase]{
		"diff":            runDiff,
		"diff_sources":    runSources,
		"diff_series":     runSeries,
		"diff_with_files": runFiles,
	})
}

func strs(t *testing.T, raw map[string]json.RawMessage) map[string]string {
	out := map[string]string{}
	for name, version := range raw {
		out[name] = cases.As[string](t, version)
	}
	return out
}

// judged is the verdict for a kernel of which nothing is known, and everything that it is told.
func judged(t *testing.T, word string, changes Changes) string {
	t.Helper()
	j := Judge(Kernel{ID: "k", Generation: 1}, changes, changes.Additive())
	require.Contains(t, accepted, word)
	assert.Contains(t, accepted[word], j.Verdict, "%v", j.Reasons)
	return strings.Join(j.Reasons, "\n")
}

func runDiff(t *testing.T, c oneCase) {
	before, after := resolved(strs(t, c.Input.Before)), resolved(strs(t, c.Input.After))
	for _, name := range c.Input.Requested {
		requires(&after, name, keys(c.Expected.Changed)...)
	}
	changes := Diff(before, after)
	told := judged(t, cases.As[string](t, c.Expected.Verdict), changes)
	for name, versions := range c.Expected.Changed {
		one := find(t, changes, name)
		assert.Equal(t, Changed, one.Class)
		assert.Equal(t, versions, [2]string{one.From, one.To})
		assert.Contains(t, told, name+" "+versions[0]+" → "+versions[1])
	}
	for _, name := range c.Expected.Added {
		assert.Equal(t, Added, find(t, changes, name).Class)
	}
	for _, text := range c.Expected.MessageNames {
		assert.Contains(t, told, text)
	}
	if c.Expected.Additive != nil {
		assert.Equal(t, *c.Expected.Additive, changes.Additive())
	}
	if c.Expected.Flag != "" {
		assert.Equal(t, c.Expected.Flag, "kernel runtime packages changed: "+strings.Join(changes.Runtime(), ", "))
	}
}

func runSources(t *testing.T, c oneCase) {
	owned := Diff(resolved(c.Input.OwnedBefore), resolved(c.Input.OwnedAfter))
	assert.Equal(t, c.Expected.OwnedSays == "additive", owned.Additive())
	before, after := resolved(c.Input.ResolvedBefore), resolved(c.Input.ResolvedAfter)
	for i := range before.Packages {
		before.Packages[i].Owner = OwnerBase
	}
	changes := Diff(before, after)
	require.Len(t, changes, 1)
	assert.Equal(t, Class(c.Expected.ResolvedSays), changes[0].Class)
	assert.Contains(t, judged(t, cases.As[string](t, c.Expected.Verdict), changes), "six 1.16.0 (the system's) is now covered by 1.17.0")
}

func runSeries(t *testing.T, c oneCase) {
	words := cases.As[[]string](t, c.Expected.Verdict)
	require.Len(t, c.Input.Steps, len(words))
	for i, step := range c.Input.Steps {
		judged(t, words[i], Diff(resolved(step.Before), resolved(step.After)))
	}
}

type fileRow struct {
	Version, Dir string
	Top, Files   []string
	Editable     bool
}

func runFiles(t *testing.T, c oneCase) {
	before, after := placed(t, c.Input.Before), placed(t, c.Input.After)
	changes := Diff(before, after)
	told := judged(t, cases.As[string](t, c.Expected.Verdict), changes)
	assert.Contains(t, told, c.Expected.Hint)
	assert.True(t, changes.Additive())
	if c.ID == "RS-06" { // the row's other half: the namespace has an __init__ in the host's folder
		before.Packages[0].Modules, before.Packages[0].Namespaces = []string{"google"}, nil
		after.Packages[1].Modules, after.Packages[1].Namespaces = []string{"google"}, nil
		require.Equal(t, "protobuf", after.Packages[1].Name)
		j := Judge(Kernel{}, Diff(before, after), true)
		assert.Equal(t, RestartToUse, j.Verdict, "%v", j.Reasons)
	}
}

func placed(t *testing.T, raw map[string]json.RawMessage) Snapshot {
	s := Snapshot{Language: Python, Path: []string{"env", "host"}}
	for _, name := range keys(raw) {
		row := cases.As[fileRow](t, raw[name])
		p := Package{Name: name, Version: row.Version, Folder: or(row.Dir, "env"), Owner: OwnerEnv, Modules: row.Top, Hooks: row.Editable, Files: row.Files}
		if p.Folder == "host" {
			p.Owner = OwnerBase
		}
		for _, file := range row.Files {
			if strings.HasSuffix(file, ".pth") {
				s.Hooks = append(s.Hooks, Hook{Name: file, Path: p.Folder + "/" + file, SHA256: "1", Owner: name})
			}
		}
		s.Packages = append(s.Packages, p)
	}
	return s
}

// resolved is a snapshot of packages that the environment owns, each with the module of its name.
func resolved(versions map[string]string) Snapshot {
	s := Snapshot{Language: Python, Interpreter: "cpython 3.11.2 /usr/bin/python3.11", Path: []string{"/env", "/usr/lib/python3/dist-packages"}}
	for _, name := range keys(versions) {
		s.Packages = append(s.Packages, Package{
			Name: name, Version: versions[name], Folder: "/env", Owner: OwnerEnv, Modules: []string{strings.ReplaceAll(name, "-", "_")},
		})
	}
	return s
}

func requires(s *Snapshot, name string, others ...string) {
	for i := range s.Packages {
		if s.Packages[i].Name == name {
			for _, other := range others {
				s.Packages[i].Requires = append(s.Packages[i].Requires, other+">=1")
			}
		}
	}
}

func keys[V any](m map[string]V) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

func find(t *testing.T, changes Changes, name string) Change {
	t.Helper()
	i := slices.IndexFunc(changes, func(one Change) bool { return one.Name == name })
	require.GreaterOrEqual(t, i, 0, "no change of %s in %v", name, changes)
	return changes[i]
}
