package selftest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/probe"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// TestMain lets this test program be the probes and the launchers that are killed.
func TestMain(m *testing.M) {
	Main(context.Background(), os.Args, sandbox.Default())
	if err := unix.CloseRange(3, 1<<31, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// weakened is a backend that leaves a wall out and says nothing of it.
type weakened struct {
	sandbox.Backend
	change func(*sandbox.Plan)
}

func (w weakened) Plan(p sandbox.Policy) (*sandbox.Plan, error) {
	plan, err := w.Backend.Plan(p)
	if err == nil {
		w.change(plan)
	}
	return plan, err
}

// showEverything adds the fixture's whole folder, as it is on the host, to the view.
func showEverything(p *sandbox.Plan) {
	for i, m := range p.Mounts {
		if m.Kind == sandbox.MountReadOnly && filepath.Base(m.Target) == "data" {
			base := filepath.Dir(m.Target)
			p.Mounts = slices.Insert(p.Mounts, i+1, sandbox.Mount{Kind: sandbox.MountReadWrite, Source: base, Target: base})
			return
		}
	}
}

func endless(p *sandbox.Plan) {
	for i := range p.Mounts {
		if p.Mounts[i].Target == "/tmp" {
			p.Mounts[i].Size = 1 << 30
		}
	}
}

func TestAMissingWallIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sandbox.Plan)
		found  []int
	}{
		"none is missing":      {func(*sandbox.Plan) {}, nil},
		"the network's":        {func(p *sandbox.Plan) { p.Network = sandbox.NetworkHost }, []int{1, 5, 14}},
		"the filter":           {func(p *sandbox.Plan) { p.Filter = nil }, []int{35, 51, 56}},
		"the view":             {showEverything, []int{15, 20, 60, 65}},
		"the bound of scratch": {endless, []int{84}},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := Quick(t.Context(), weakened{sandbox.Default(), c.change}, self(t))
			require.NoError(t, err)
			assert.Equal(t, len(c.found) == 0, report.OK())
			var found []int
			for _, row := range report.Rows {
				if !row.OK {
					found = append(found, row.Number)
					assert.Contains(t, row.Why, "inside it should have been", "%v", row)
				}
			}
			slices.Sort(found)
			assert.Equal(t, c.found, slices.Compact(found), "%v", report.Rows)
		})
	}
}

func TestWithoutAControlNothingIsShown(t *testing.T) {
	r := row{number: 1, name: "connect", inside: fails("ECONNREFUSED")}
	refused := probe.Outcome{Error: "ECONNREFUSED"}
	assert.True(t, r.judge(probe.Outcome{Did: true}, refused).OK)
	for _, outside := range []probe.Outcome{refused, {Error: "ETIMEDOUT"}, {}} {
		got := r.judge(outside, refused)
		assert.False(t, got.OK)
		assert.Contains(t, got.Why, "without that nothing is shown")
	}
	assert.False(t, r.judge(probe.Outcome{Did: true}, probe.Outcome{Error: "EPERM"}).OK, "another error is another wall")
}

func TestTheCallersVariablesAreNotShown(t *testing.T) {
	judged := 0
	for _, r := range (&host{}).processRows() {
		if r.number != 75 && r.number != 76 {
			continue
		}
		found := probe.Outcome{Did: true, Detail: "A_TOKEN=hush\nB=" + secret + "\n"}
		row := r.judge(found, probe.Outcome{Did: true, Detail: "PWD=/nb"})
		assert.True(t, row.OK, row)
		assert.Equal(t, "did: variables: 2", row.Control)
		row = r.judge(found, found)
		assert.False(t, row.OK, row)
		assert.NotContains(t, row.Control+row.Inside+row.Why, "hush")
		judged++
	}
	assert.Equal(t, 2, judged)
}

func TestTheBoundedSelfTestIsShort(t *testing.T) {
	begin := time.Now()
	report, err := Quick(t.Context(), sandbox.Default(), self(t))
	require.NoError(t, err)
	took := time.Since(begin)
	t.Log(took)
	assert.Less(t, took, 5*time.Second, "a fifth of a second on a quiet machine")
	assert.NotEmpty(t, report.Enforced)
	b, err := json.Marshal(report)
	require.NoError(t, err)
	for _, field := range []string{`"rows":[{"number":1,"name":"`, `"control":"did"`, `"inside":"ECONNREFUSED"`, `"ok":true`, `"missing":[`} {
		assert.Contains(t, string(b), field)
	}
}

func TestNothingOfTheFixtureIsLeft(t *testing.T) {
	dir, err := os.MkdirTemp("", "t-") // a short name: sockets stand in it
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	t.Setenv("TMPDIR", dir)
	for _, n := range []sandbox.Network{sandbox.NetworkNone, sandbox.NetworkHost} {
		_, err := All(t.Context(), sandbox.Default(), self(t), n)
		require.NoError(t, err)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	for _, pattern := range []string{"/dev/shm/kl-*", "/tmp/kl-*-file"} {
		shared, err := filepath.Glob(pattern)
		require.NoError(t, err)
		assert.Empty(t, shared)
	}
}

func TestTheFixtureStandsWhereSocketsCan(t *testing.T) {
	assert.Equal(t, "/var/tmp", place("/var/tmp"))
	assert.Equal(t, "/tmp", place("/scratch/"+strings.Repeat("x", 90)))
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), strings.Repeat("x", 90)))
	report, err := Quick(t.Context(), sandbox.Default(), self(t))
	require.NoError(t, err)
	assert.True(t, report.OK(), "%v", report.Rows)
}

func TestWhatCannotStartIsNoReport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Quick(ctx, sandbox.Default(), self(t))
	require.ErrorIs(t, err, context.Canceled)
	_, err = Quick(t.Context(), sandbox.Default(), "/no/such/helper")
	require.Error(t, err)
	assert.True(t, strings.Contains(err.Error(), "/no/such/helper"), err)
}
