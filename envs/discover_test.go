package envs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCandidatesInOrder(t *testing.T) {
	folders := map[string][]string{
		"/a": {"python3.9", "python3.12", "python3", "python", "python3.12-config", "python3.13t"},
		"/b": {"python3.11", "python3", "pypy3"},
		".":  {"python3"},
	}
	names := func(dir string) []string { return folders[dir] }
	for _, c := range []struct {
		wanted string
		want   []string
	}{
		{"", []string{"/a/python3", "/a/python3.12", "/a/python3.9", "/b/python3", "/b/python3.11"}},
		{"3.11", []string{"/b/python3.11", "/a/python3", "/b/python3"}},
		{"3.11.2", []string{"/b/python3.11", "/a/python3", "/b/python3"}},
		{"3", []string{"/a/python3", "/b/python3", "/a/python3", "/a/python3.12", "/a/python3.9", "/b/python3", "/b/python3.11"}},
		{"pypy3", []string{"/b/pypy3"}},
		{"ruby", nil},
	} {
		assert.Equal(t, c.want, pythonCandidates("linux", c.wanted, []string{"/a", "", ".", "rel", "/b"}, names), c.wanted)
	}
}

func TestMatches(t *testing.T) {
	assert.True(t, matches("3.11.2", "3.11"))
	assert.True(t, matches("3.11.2", "3.11.2"))
	assert.False(t, matches("3.110.2", "3.11"))
	assert.False(t, matches("3.11.2", "3.11.20"))
}

func script(t *testing.T, path, text string) string {
	t.Helper()
	write(t, path, "#!/bin/bash\n"+text)
	require.NoError(t, os.Chmod(path, 0o755))
	return path
}

func TestAShimIsResolvedAndNotKept(t *testing.T) {
	s := newStore(t)
	bin := private(t)
	ran := filepath.Join(bin, "ran")
	shim := script(t, filepath.Join(bin, "python3"), "echo chatter; echo x >>"+ran+"; exec "+systemPython+" \"$@\"\n")
	s.Getenv = func(k string) string { return map[string]string{"PATH": bin + ":/usr/bin"}[k] }
	for range 2 {
		facts, err := s.FindPython(t.Context(), "")
		require.NoError(t, err)
		assert.Equal(t, "/usr", facts.Prefix)
		assert.NotEqual(t, shim, facts.Path)
		assert.True(t, sameFile(facts.Path, systemPython))
		assert.Contains(t, facts.Path, "/usr/bin/python3.", "the name with the minor version is kept")
	}
	data, err := os.ReadFile(ran)
	require.NoError(t, err)
	assert.Equal(t, "x\nx\n", string(data), "a shim is asked each time")
	entries := s.readCache().Entries
	assert.NotContains(t, entries, shim)
	assert.Len(t, entries, 1)
}

func TestWhyACandidateIsNotTaken(t *testing.T) {
	s := newStore(t)
	d := private(t)
	plainFile := filepath.Join(d, "file")
	write(t, plainFile, "")
	answer := func(version, venv string) string {
		return `echo; echo 'kernel-launch-probe {"path": "'$0'", "prefix": "/usr", "version": "` + version + `", "implementation": "cpython", "env_site_packages": ["@ENV@/lib"], "has_venv": ` + venv + `}'`
	}
	for path, reason := range map[string]string{
		filepath.Join(d, "none"): "not found",
		plainFile:                "does not run: it is not executable",
		d:                        "does not run: it is no file",
		script(t, filepath.Join(d, "fails"), "echo oops >&2; exit 3\n"):               "does not run: exit status 3: oops",
		script(t, filepath.Join(d, "two"), "echo 'Unknown option: -I' >&2; exit 2\n"): "too old: 3.9 is the oldest",
		script(t, filepath.Join(d, "old"), answer("3.8.20", "true")):                  "too old: it is 3.8.20",
		script(t, filepath.Join(d, "novenv"), answer("3.11.2", "false")):              "it has no venv module",
		script(t, filepath.Join(d, "mute"), "true\n"):                                 "did not answer",
		script(t, filepath.Join(d, "odd"), "echo; echo 'kernel-launch-probe [1]'\n"):  "answer to the probe",
		script(t, filepath.Join(d, "loop"), "echo; echo 'kernel-launch-probe {\"path\": \""+d+"/loop2\", \"prefix\": \"/usr\", \"version\": \"3.11.2\", \"env_site_packages\": [\"@ENV@/lib\"]}'\n"): "not found",
		script(t, filepath.Join(d, "bad"), answer("", "true")): "version is missing",
	} {
		_, err := s.FindPython(t.Context(), path)
		var ie *InterpreterError
		require.ErrorAs(t, err, &ie, path)
		require.Len(t, ie.Candidates, 1)
		assert.Contains(t, ie.Candidates[0].Error(), reason)
		assert.Contains(t, err.Error(), path)
	}
}

func TestAVersionThatIsNotThereNamesWhatIs(t *testing.T) {
	s := newStore(t)
	_, err := s.FindPython(t.Context(), "3.99")
	var ie *InterpreterError
	require.ErrorAs(t, err, &ie)
	require.NotEmpty(t, ie.Candidates)
	assert.Contains(t, ie.Candidates[0].Reason, ", not 3.99")
}

// The control is the module that Python would take from where it stands; the probe must not.
func TestTheProbeTakesNothingFromTheCurrentFolder(t *testing.T) {
	d := private(t)
	canary := filepath.Join(d, "canary")
	for _, module := range []string{"json.py", "venv.py", "site.py", "sitecustomize.py", "usercustomize.py"} {
		write(t, filepath.Join(d, module), "open("+"'"+canary+"', 'w')\n")
	}
	t.Chdir(d)
	s := newStore(t)
	s.Getenv = func(k string) string {
		return map[string]string{"PATH": "/usr/bin", "HOME": d, "PYTHONPATH": d, "PYTHONSTARTUP": filepath.Join(d, "json.py"), "VIRTUAL_ENV": d}[k]
	}
	_, err := s.FindPython(t.Context(), "")
	require.NoError(t, err)
	assert.NoFileExists(t, canary)
}

func TestTheInterpreterOfAVirtualEnvironmentIsItsBase(t *testing.T) {
	s := newStore(t)
	d := private(t)
	canary := filepath.Join(d, "canary")
	outer, inner := filepath.Join(d, "outer"), filepath.Join(d, "inner")
	for _, v := range []struct{ venv, home string }{{outer, "/usr/bin"}, {inner, filepath.Join(outer, "bin")}} {
		write(t, filepath.Join(v.venv, "pyvenv.cfg"), "Home = "+v.home+"\nversion = 3\n")
		script(t, filepath.Join(v.venv, "bin", "python3"), "touch "+canary+"\nexit 1\n")
	}
	facts, err := s.FindPython(t.Context(), filepath.Join(inner, "bin", "python3"))
	require.NoError(t, err)
	assert.True(t, sameFile(facts.Path, systemPython))
	assert.NoFileExists(t, canary, "neither is started")

	write(t, filepath.Join(outer, "pyvenv.cfg"), "home = "+d+"\n")
	_, err = s.FindPython(t.Context(), filepath.Join(inner, "bin", "python3"))
	assert.ErrorContains(t, err, "no interpreter in its home "+d)
	write(t, filepath.Join(outer, "pyvenv.cfg"), "home = "+filepath.Join(inner, "bin")+"\n")
	_, err = s.FindPython(t.Context(), filepath.Join(inner, "bin", "python3"))
	assert.ErrorContains(t, err, "stand on each other")
}

func TestPyvenv(t *testing.T) {
	c := parsePyvenv("\ufeffHOME = /usr/bin\r\ninclude-system-site-packages = FALSE\nprompt = a=b\nnoise\n")
	assert.Equal(t, pyvenvConfig{"home": "/usr/bin", "include-system-site-packages": "FALSE", "prompt": "a=b"}, c)
	assert.False(t, c.inherits())
	assert.True(t, parsePyvenv("").inherits(), "a missing key means true")
	assert.True(t, parsePyvenv("include-system-site-packages = true").inherits())
}

func TestAnInterpreterThatHangsEndsWithItsContext(t *testing.T) {
	s := newStore(t)
	hang := script(t, filepath.Join(private(t), "python3"), "exec sleep 600\n")
	stop := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, stop)
	defer cancel()
	_, err := s.FindPython(ctx, hang)
	require.ErrorIs(t, err, stop)
	left, err := os.ReadDir(s.Work)
	require.NoError(t, err)
	assert.Empty(t, left, "its empty folder is gone")
}
