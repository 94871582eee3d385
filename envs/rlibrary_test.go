package envs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func rPackage(t *testing.T, library, name, description string) {
	t.Helper()
	write(t, filepath.Join(library, name, "DESCRIPTION"), description)
	write(t, filepath.Join(library, name, "Meta", "package.rds"), "")
}

func TestRLibraries(t *testing.T) {
	own, site := t.TempDir(), t.TempDir()
	rPackage(t, own, "jsonlite", "Package: jsonlite\nVersion: 2.0\nDescription: a\n  long one\nBuilt: R 4.2.2; ; 2026-01-01; unix\n")
	rPackage(t, site, "jsonlite", "Package: jsonlite\nVersion: 1.8\nBuilt: R 4.2.2; ; ; unix\n")
	rPackage(t, site, "R6", "Package: R6\nVersion: 2.5\nBuilt: R 4.2.2; ; ; unix\n")
	rPackage(t, site, "odd", "Package: other\nVersion: 1\nBuilt: R 4.2.2\n")
	rPackage(t, site, "source", "Package: source\nVersion: 1\n")
	rPackage(t, site, "00LOCK-x", "Package: x\nVersion: 1\n")
	write(t, filepath.Join(site, "killed", "R", "killed.rdb"), "")
	write(t, filepath.Join(site, "unfinished", "DESCRIPTION"), "Package: unfinished\nVersion: 1\n")

	list, err := readLibraries([]folder{{own, OwnerEnv}, {site, OwnerBase}, {filepath.Join(site, "none"), OwnerBase}})
	require.NoError(t, err)
	assert.Equal(t, []string{"R6", "jsonlite", "odd", "source"}, names(list))
	assert.Equal(t, Package{
		Name: "jsonlite", Version: "2.0", Owner: OwnerEnv, Folder: own, Info: filepath.Join(own, "jsonlite", "DESCRIPTION"), Built: "R 4.2.2; ; 2026-01-01; unix",
	}, list[1])
	assert.Contains(t, list[2].Broken, "another package")
	assert.Contains(t, list[3].Broken, "Built")
}

func TestAnREnvironment(t *testing.T) {
	s := newStore(t)
	e, err := s.Create(t.Context(), CreateOptions{Name: "stats", Language: R})
	require.NoError(t, err)
	require.NoError(t, e.Check())
	assert.Equal(t, "R", e.Interpreter.Implementation)
	list, _, err := e.Packages()
	require.NoError(t, err)
	assert.Subset(t, names(list), []string{"IRkernel", "base", "stats"})
	rPackage(t, e.Tree(), "IRkernel", "Package: IRkernel\nVersion: 99\nBuilt: R 4.2.2; ; ; unix\n")
	list, _, err = e.Packages()
	require.NoError(t, err)
	for _, p := range list {
		if p.Name == "IRkernel" {
			assert.Equal(t, []string{"99", OwnerEnv}, []string{p.Version, p.Owner}, "the environment's library is the first")
		}
	}
	assert.Equal(t, e.Current(), e.Variables()["R_LIBS"])
}

func TestAnREnvironmentWithoutItsKernel(t *testing.T) {
	s := newStore(t)
	_, err := s.Create(t.Context(), CreateOptions{Name: "alone", Language: R, Isolated: true})
	var nk *NoKernelError
	require.ErrorAs(t, err, &nk)
	assert.Equal(t, "IRkernel", nk.Package)
	assert.Len(t, nk.Looked, 2, "its own library and R's own")
	entries, err := os.ReadDir(filepath.Join(s.Root, R))
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestFindR(t *testing.T) {
	s := newStore(t)
	var ie *InterpreterError
	_, err := s.FindR(t.Context(), "/no/such/R")
	require.ErrorAs(t, err, &ie)
	require.Len(t, ie.Candidates, 1)
	assert.Equal(t, "not found", ie.Candidates[0].Reason)
	_, err = s.FindR(t.Context(), "/bin/true")
	require.ErrorAs(t, err, &ie)
	assert.Equal(t, "does not run", ie.Candidates[0].Reason)
	s.Getenv = func(string) string { return "" }
	_, err = s.FindR(t.Context(), "")
	require.ErrorAs(t, err, &ie)
	assert.Empty(t, ie.Candidates)
}

// The user's and the folder's settings have no say: they could name libraries that a kernel does not see.
func TestTheProbeOfRTakesNoSettingsOfTheUser(t *testing.T) {
	s := newStore(t)
	home := private(t)
	lib := filepath.Join(home, "lib")
	require.NoError(t, os.Mkdir(lib, 0o755))
	write(t, filepath.Join(home, ".Renviron"), "R_LIBS="+lib+"\n")
	write(t, filepath.Join(home, ".Rprofile"), ".libPaths('"+lib+"')\n")
	s.Getenv = func(k string) string { return map[string]string{"PATH": "/usr/bin:/bin", "HOME": home}[k] }
	facts, err := s.FindR(t.Context(), "")
	require.NoError(t, err)
	assert.NotContains(t, facts.Libraries, lib)
	assert.NotEmpty(t, facts.Libraries)
}
