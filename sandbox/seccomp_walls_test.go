//go:build linux

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bare is the world's plan without the filter: what the kernel answers by itself behind the same walls.
func (w *world) bare() *Plan {
	plan := w.plan()
	plan.Filter = nil
	return plan
}

func TestCallsThatNoNotebookNeeds(t *testing.T) {
	w := newWorld(t)
	sure := sureRows
	if runtime.GOARCH == "amd64" {
		sure = slices.Concat(sure, amd64Rows)
	}
	require.Equal(t, wants(sure), w.answers(w.plan(), sure))
	require.Equal(t, wants(tellingRows), w.answers(w.plan(), tellingRows))
	for i, bare := range w.answers(w.bare(), tellingRows) {
		assert.NotEqual(t, wants(tellingRows)[i], bare, "the control: what the kernel says by itself")
	}
	out := w.inside("calls", openCalls...)
	require.Equal(t, w.insideOf(w.bare(), "calls", openCalls...), out)
	require.NotContains(t, out, "EPERM")
}

func wants(rows []callRow) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.call + ": " + r.want
	}
	return out
}

// answers are what the calls of the rows meet behind a plan.
func (w *world) answers(plan *Plan, rows []callRow) []string {
	w.t.Helper()
	calls := make([]string, len(rows))
	for i, r := range rows {
		calls[i] = r.call
	}
	lines := strings.Split(strings.TrimSpace(w.insideOf(plan, "calls", calls...)), "\n")
	require.Len(w.t, lines, len(rows))
	for i := range lines {
		lines[i] = calls[i] + ": " + lines[i]
	}
	return lines
}

func TestTheKernelKnowsOfTheFilter(t *testing.T) {
	w := newWorld(t)
	require.Contains(t, w.inside("read", "/proc/self/status"), "\nSeccomp:\t2\n")
	require.Contains(t, w.insideOf(w.bare(), "read", "/proc/self/status"), "\nSeccomp:\t0\n")
}

func TestTracingIsForDebugging(t *testing.T) {
	w := newWorld(t)
	ok := "attach ok\nread ok\n"
	require.Equal(t, ok, w.outside("sibling"))
	require.Equal(t, ok, w.insideOf(w.bare(), "sibling"))
	require.Equal(t, strings.ReplaceAll(ok, "ok", "EPERM"), w.inside("sibling"))
	calls := []string{"personality 0x40000", "kcmp 1 1 0 0 0", "perf_event_open 0 0 -1 -1 0x7fffffff", "pidfd_getfd -1 0 0", "unshare 0"}
	require.Equal(t, "EPERM\nEPERM\nEPERM\nEPERM\nEPERM\n", w.inside("calls", calls...))
	w.policy.Debug = true
	require.Equal(t, ok, w.inside("sibling"))
	require.Equal(t, "ok\nok\nEPERM\nEPERM\nEPERM\n", w.inside("calls", calls...))
}

// setIDCalls make or change NAME so that it would run as its owner or group, in every way there is. arm64 has none but the last five.
var setIDCalls = []string{
	"chmod NAME 04755", "chmod NAME 02755", "creat NAME-1 04755", "open NAME-2 0101 04755", "open NAME-3 0101 02755", "open DIR 020200002 04755",
	"mknod NAME-4 0104755 0",
	"fchmodat -100 NAME 06755", "fchmodat2 -100 NAME 04755 0x100", "openat -100 NAME-5 0101 04755", "openat -100 NAME-6 0101 02755",
	"mknodat -100 NAME-7 0102755 0",
}

func TestNoFileLendsItsOwnerOrGroup(t *testing.T) {
	w := newWorld(t)
	free, held := w.setIDs("free"), w.setIDs("held")
	require.Equal(t, strings.Repeat("ok\n", len(free)), w.insideOf(w.bare(), "calls", free...), "the control")
	require.NotEmpty(t, setIDFiles(t, w.work+"/free"))
	require.Equal(t, strings.Repeat("EPERM\n", len(held)), w.inside("calls", held...))
	require.Empty(t, setIDFiles(t, w.work+"/held"))
	require.Len(t, w.names(w.work+"/held"), 1, "nothing was made before it was refused")
}

// setIDs are the calls that this architecture has, on a file in a folder of their own.
func (w *world) setIDs(folder string) []string {
	dir := w.work + "/" + folder
	w.write(dir+"/f", "")
	var out []string
	for _, c := range setIDCalls {
		name, _, _ := strings.Cut(c, " ")
		if _, err := callNumber(name); err == nil {
			out = append(out, strings.NewReplacer("NAME", dir+"/f", "DIR", dir).Replace(c))
		}
	}
	return out
}

func TestOtherModesAreSet(t *testing.T) {
	w := newWorld(t)
	f := w.work + "/f"
	w.write(f, "")
	calls := []string{
		"fchmodat -100 " + f + " 01755", "openat -100 " + f + " 0 06777", "openat -100 " + f + " 2 06777", "openat -100 " + f + "1 0102 0666",
		"mkdirat -100 " + f + "2 01777", "mkdirat -100 " + f + "3 02755", "mknodat -100 " + f + "4 0100644 0",
	}
	require.Equal(t, strings.Repeat("ok\n", len(calls)), w.inside("calls", calls...))
	require.Empty(t, setIDFiles(t, w.work), "the kernel leaves the bit out that mkdir was given")
	require.Equal(t, "EPERM\n", w.inside("calls", "mkdirat -100 "+f+"5 04755"))
}

func (w *world) names(dir string) []os.DirEntry {
	names, err := os.ReadDir(dir)
	require.NoError(w.t, err)
	return names
}

func setIDFiles(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			out = append(out, path)
		}
		return err
	}))
	return out
}

func TestNothingTypesIntoATerminal(t *testing.T) {
	w := newWorld(t)
	requests := []string{"0x5412", "0x100005412", "0xffffffff00005412", "0x541c", "0x10000541c", "0x5401"}
	for _, line := range strings.Split(strings.TrimSpace(w.insideOf(w.bare(), "terminal", requests...)), "\n") {
		require.NotContains(t, line, "EPERM", "the control: a kernel may refuse it too, but with another error")
	}
	want := ""
	for _, r := range requests[:5] {
		want += r + " EPERM\n"
	}
	require.Equal(t, want+"0x5401 ok\n", w.inside("terminal", requests...))
}
