package envs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/restart"
)

// verdictOf judges a kernel that has loaded one module of the environment's folder when the folder is changed under it.
func verdictOf(t *testing.T, e *Environment, module string, change func()) restart.Verdict {
	t.Helper()
	before, err := e.Snapshot()
	require.NoError(t, err)
	change()
	after, err := e.Snapshot()
	require.NoError(t, err)
	yes := true
	k := restart.Kernel{ID: "k", Executed: &yes, Loaded: []restart.Module{{Name: module, File: filepath.Join(e.Current(), siteRel, module, "__init__.py")}}}
	return restart.Judge(k, restart.Diff(before, after), false).Verdict
}

// A crash of the machine leaves files that are there and empty.
func TestAnEmptyRecordDoesNotSayThatThereAreNoModules(t *testing.T) {
	for name, record := range map[string]string{"empty": "", "blank": "\n\r\n", "whole": "num/__init__.py,sha256=a,1\nnum-1.dist-info/RECORD,,\n"} {
		s := newStore(t)
		e := library(t, s, "a")
		dist(t, e.site(), "num", "1", record)
		write(t, filepath.Join(e.site(), "num", "__init__.py"), "")
		got := verdictOf(t, e, "num", func() {
			require.NoError(t, os.RemoveAll(filepath.Join(e.site(), "num-1.dist-info")))
			dist(t, e.site(), "num", "2", "num/__init__.py,sha256=b,1\nnum-2.dist-info/RECORD,,\n")
		})
		assert.Equal(t, restart.Required, got, name)
	}
	s := newStore(t)
	e := library(t, s, "a")
	dist(t, e.site(), "meta", "1", "meta-1.dist-info/METADATA,sha256=a,1\nmeta-1.dist-info/RECORD,,\n")
	got, err := e.Snapshot()
	require.NoError(t, err)
	assert.Equal(t, []string{}, packages(got)["meta"].Modules, "this one has none, and says so")
}

func TestALinkedFolderIsAModuleWithoutADistribution(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	sources := t.TempDir()
	write(t, filepath.Join(sources, "__init__.py"), "")
	require.NoError(t, os.Symlink(sources, filepath.Join(e.site(), "linked")))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(e.site(), "nothing")))
	got, err := e.Snapshot()
	require.NoError(t, err)
	assert.Equal(t, []string{"linked"}, got.Orphans)
}

// A file that one RECORD names twice is still that distribution's alone.
func TestAFileThatARecordNamesTwiceIsNotShared(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	dist(t, e.site(), "ns-one", "1", "ns/__init__.py,sha256=i,1\nns/one.py,sha256=a,1\nns/one.py,sha256=a,1\n")
	dist(t, e.site(), "ns-two", "1", "ns/__init__.py,sha256=i,1\nns/two.py,sha256=b,1\n")
	got, err := e.Snapshot()
	require.NoError(t, err)
	assert.Contains(t, packages(got)["ns-one"].Files, "ns/one.py")
	assert.NotContains(t, packages(got)["ns-one"].Files, "ns/__init__.py", "this one they share")
}
