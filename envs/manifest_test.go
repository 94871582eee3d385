package envs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planted is a finished environment that nobody had to make.
func planted(t *testing.T, s *Store, language, name string) *Environment {
	t.Helper()
	e := &Environment{
		Name: name, Language: language, Mode: Inherit, Generation: 1, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), dir: s.dir(language, name),
		Interpreter: Interpreter{Path: systemPython, Prefix: "/usr", Version: "3.11.2", EnvSitePackages: []string{"@ENV@/lib/python3.11/site-packages"}},
	}
	require.NoError(t, os.MkdirAll(filepath.Join(e.Tree(), "lib", "python3.11", "site-packages"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(e.Tree(), "bin"), 0o700))
	require.NoError(t, os.Symlink(systemPython, filepath.Join(e.Tree(), "bin", "python")))
	require.NoError(t, os.WriteFile(e.genLock(1), nil, 0o600))
	require.NoError(t, os.Symlink("gen/1", e.Current()))
	require.NoError(t, writeManifest(e))
	return e
}

func TestAManifestComesBackAsItWas(t *testing.T) {
	s := newStore(t)
	e := planted(t, s, Python, "a")
	e.Owned, e.Requested = []Owned{{Name: "x", Version: "1"}}, []string{"x"}
	require.NoError(t, writeManifest(e))
	got, err := s.Get("A")
	require.NoError(t, err)
	assert.Equal(t, e, got)
	fi, err := os.Stat(filepath.Join(e.dir, manifestName))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
}

func TestAManifestThatIsWrongIsNotWritten(t *testing.T) {
	s := newStore(t)
	e := planted(t, s, Python, "a")
	e.Mode, e.Generation, e.Interpreter.Path, e.Interpreter.Version = "both", 0, "python3", ""
	e.Interpreter.EnvSitePackages = []string{"/usr/lib", "@ENV@/../../x"}
	err := writeManifest(e)
	for _, part := range []string{`mode is "both"`, "generation is 0", `interpreter.path is "python3"`, "version is missing", `"/usr/lib"`, `"@ENV@/../../x"`} {
		assert.ErrorContains(t, err, part, "every fault at once")
	}
	_, err = s.Get("a")
	assert.NoError(t, err, "the old one is still there")
}

func TestADamagedManifestIsBrokenAndHidesNothing(t *testing.T) {
	s := newStore(t)
	planted(t, s, Python, "b")
	planted(t, s, R, "c")
	good, err := os.ReadFile(filepath.Join(s.Root, Python, "b", manifestName))
	require.NoError(t, err)
	for what, text := range map[string]string{
		"nothing": "", "no JSON": "{", "other name": string(good), "newer schema": strings.Replace(strings.Replace(string(good), `"b"`, `"a"`, 1), `"schema": 1`, `"schema": 2`, 1),
		"a list": "[]", "no interpreter": `{"schema":1,"name":"a","language":"python","mode":"inherit","generation":1,"created":"2026-01-01T00:00:00Z"}`,
	} {
		t.Run(what, func(t *testing.T) {
			write(t, filepath.Join(s.Root, Python, "a", manifestName), text)
			var be *BrokenError
			_, err := s.Get("a")
			require.ErrorAs(t, err, &be)
			assert.Equal(t, "a", be.Name)
			assert.Contains(t, err.Error(), be.Path)
			list, errs := s.List()
			require.Len(t, errs, 1)
			require.ErrorAs(t, errs[0], &be)
			require.Len(t, list, 2)
			assert.Equal(t, []string{"b", "c"}, []string{list[0].Name, list[1].Name})
		})
	}
	require.NoError(t, s.Remove(t.Context(), "a"), "what is damaged can be removed")
	_, errs := s.List()
	assert.Empty(t, errs)
}

func TestUnknownKeysOfAManifestAreNoFault(t *testing.T) {
	s := newStore(t)
	e := planted(t, s, Python, "a")
	p := filepath.Join(e.dir, manifestName)
	data, err := os.ReadFile(p)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(data, &m))
	m["later"] = 1
	data, err = json.Marshal(m)
	require.NoError(t, err)
	write(t, p, string(data))
	_, err = s.Get("a")
	require.NoError(t, err)
}

func TestListOfNothing(t *testing.T) {
	s := newStore(t)
	list, errs := s.List()
	assert.Empty(t, list)
	assert.Empty(t, errs)
	_, err := s.Get("a")
	var nf *NotFoundError
	require.ErrorAs(t, err, &nf)
	_, err = s.Get("../a")
	var ne *NameError
	require.ErrorAs(t, err, &ne)
}

func TestCheck(t *testing.T) {
	for what, c := range map[string]struct {
		harm func(*Environment) error
		word string
	}{
		"nothing":         {func(*Environment) error { return nil }, ""},
		"the interpreter": {func(e *Environment) error { e.Interpreter.Path = "/no/such/python3.11"; return nil }, "/no/such/python3.11 3.11.2 is gone"},
		"the tree":        {func(e *Environment) error { return os.RemoveAll(e.Tree()) }, "its tree"},
		"the link":        {func(e *Environment) error { return os.Remove(e.Current()) }, "does not lead to its tree"},
		"another tree": {func(e *Environment) error {
			return errorsOf(os.Mkdir(filepath.Join(e.dir, "gen", "2"), 0o700), os.Remove(e.Current()), os.Symlink("gen/2", e.Current()))
		}, "does not lead to its tree"},
		"its python":    {func(e *Environment) error { return os.Remove(filepath.Join(e.Tree(), "bin", "python")) }, "cannot be started"},
		"site-packages": {func(e *Environment) error { return os.RemoveAll(filepath.Join(e.Tree(), "lib")) }, "site-packages"},
	} {
		t.Run(what, func(t *testing.T) {
			e := planted(t, newStore(t), Python, "a")
			require.NoError(t, c.harm(e))
			err := e.Check()
			if c.word == "" {
				require.NoError(t, err)
				return
			}
			var be *BrokenError
			require.ErrorAs(t, err, &be)
			assert.Contains(t, be.What, c.word)
			assert.NotEmpty(t, be.Path)
		})
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
