package envs

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// uvStore has a PATH of its own and no uv but what the test makes.
func uvStore(t *testing.T, path ...string) *Store {
	t.Helper()
	base := private(t)
	s := &Store{Work: filepath.Join(base, "install"), Index: IndexSettings{URL: newIndex(t).simple()}}
	s.Getenv = func(k string) string {
		return map[string]string{"PATH": strings.Join(path, string(filepath.ListSeparator))}[k]
	}
	s.Index.proxy.HTTPSProxy = "http://127.0.0.1:1" // so that the public index cannot be reached
	return s
}

// program makes one that is no script: a copy of one of the system's that prints its arguments.
func program(t *testing.T, path, from string) {
	t.Helper()
	real, err := exec.LookPath(from)
	require.NoError(t, err)
	data, err := os.ReadFile(real)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, data, 0o755))
}

func TestUVIsBroughtOnceAndWorks(t *testing.T) {
	path := realUV(t)
	out, err := exec.CommandContext(t.Context(), path, "--version").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "uv "+uvVersion)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "what was fetched is gone")

	s := uvStore(t)
	s.Tools = uvFolder
	got, err := s.uv(t.Context())
	require.NoError(t, err, "it needs no index any more")
	assert.Equal(t, path, got)
}

func TestUVFromPATH(t *testing.T) {
	path := realUV(t)
	d := t.TempDir()
	require.NoError(t, os.Symlink(path, filepath.Join(d, "uv")))
	s := uvStore(t, "relative", filepath.Join(d, "none"), d)
	got, err := s.uv(t.Context())
	require.NoError(t, err)
	assert.Equal(t, path, got, "the program itself: links may not lead anywhere inside")

	t.Chdir(d)
	_, err = s.uv(t.Context())
	assert.ErrorContains(t, err, "it lies in the working folder")
}

func TestUVThatIsNotTaken(t *testing.T) {
	d := t.TempDir()
	write(t, filepath.Join(d, "script", "uv"), "#!/bin/sh\necho uv 99.0.0\n")
	require.NoError(t, os.Chmod(filepath.Join(d, "script", "uv"), 0o755))
	program(t, filepath.Join(d, "other", "uv"), "echo")
	program(t, filepath.Join(d, "fails", "uv"), "false")
	s := uvStore(t, filepath.Join(d, "script"), filepath.Join(d, "other"), filepath.Join(d, "fails"))
	_, err := s.uv(t.Context())
	var none *NoUVError
	require.ErrorAs(t, err, &none)
	require.Len(t, none.Looked, 3)
	for i, words := range []string{"a script", "and not uv 0.9 or later", "does not run"} {
		assert.Contains(t, none.Looked[i].Error(), words)
	}
	assert.ErrorContains(t, none.Err, "/uv/: 404")
	for _, setting := range []string{"relative/uv", filepath.Join(d, "none"), filepath.Join(d, "other", "uv")} {
		s.UV = setting
		_, err := s.uv(t.Context())
		require.ErrorAs(t, err, &none, setting)
		assert.Nil(t, none.Err, "what was named is all that is tried")
	}
	s.UV = UVOff
	assert.ErrorContains(t, s.BringUV(t.Context()), "switched off")
}

func TestAnotherFileUnderTheNameOfUV(t *testing.T) {
	x := newIndex(t)
	wheel, ok := uvWheel(runtime.GOOS, runtime.GOARCH, onMusl())
	require.True(t, ok)
	x.put(wheel.name, []byte("PK something else"))
	s := uvStore(t)
	s.Index.URL = x.simple()
	_, err := s.uv(t.Context())
	assert.ErrorContains(t, err, "has the sha256")
	left, readErr := filepath.Glob(filepath.Join(s.tools(), "uv", "*", "*"))
	require.NoError(t, readErr)
	assert.Empty(t, left)
}

func TestUVAnswers(t *testing.T) {
	for said, want := range map[string]bool{
		"uv 0.13.9 (x86_64-unknown-linux-gnu)": true, "uv 0.9.0": true, "uv 1.0.0": true, "uv 0.8.22": false, "uv": false, "": false, "notuv 0.13.9": false, "uv 0.x.1": false,
	} {
		assert.Equal(t, want, uvRecent(said), said)
	}
}

func TestUVWheels(t *testing.T) {
	for key, f := range uvWheels {
		assert.True(t, strings.HasPrefix(f.name, "uv-"+uvVersion+"-py3-none-") && strings.HasSuffix(f.name, ".whl"), key)
		assert.Len(t, f.sha256, 64, key)
	}
	glibc, _ := uvWheel("linux", "amd64", false)
	musl, _ := uvWheel("linux", "amd64", true)
	assert.NotEqual(t, glibc, musl)
	_, ok := uvWheel("plan9", "amd64", false)
	assert.False(t, ok)
}

func TestEachIndexHasItsOwnCache(t *testing.T) {
	s := &Store{Work: filepath.Join(private(t), "install")}
	one, err := s.uvCache()
	require.NoError(t, err)
	s.Index.URL = "https://index.test/simple"
	two, err := s.uvCache()
	require.NoError(t, err)
	assert.NotEqual(t, one, two)
	s.Index.Credentials = Credentials{"ann", "hunter2"}
	three, err := s.uvCache()
	require.NoError(t, err)
	assert.Equal(t, two, three)
}
