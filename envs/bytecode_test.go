package envs

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBytecodeIsMadeAfterwardsAndIsTaken(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	var compiler tail
	compiler.max = 4 << 10
	run := s.Exec
	s.Exec = func(ctx context.Context, tool Tool) error {
		tool.Stdout, tool.Stderr = &compiler, &compiler
		return run(ctx, tool)
	}
	install(t, s, e, true, parcelOf(t, "p", "1", nil, map[string]string{
		"p/__init__.py": "X = 1\n", "p/broken.py": "def (:\n", "p/tests/test_x.py": "", "hook.pth": "import os; print('hook ran')\n", "single.py": "",
	}))
	site := filepath.Join(e.Tree(), siteRel)
	require.NoError(t, s.CompileBytecode(t.Context(), "a", 1))
	pyc := filepath.Join(site, "p", "__pycache__", "__init__.cpython-311.pyc")
	data, err := os.ReadFile(pyc)
	require.NoError(t, err)
	fi, err := os.Stat(filepath.Join(site, "p", "__init__.py"))
	require.NoError(t, err)
	assert.Equal(t, uint32(fi.ModTime().Unix()), binary.LittleEndian.Uint32(data[8:]))
	assert.FileExists(t, filepath.Join(site, "__pycache__", "single.cpython-311.pyc"))
	assert.NoFileExists(t, filepath.Join(site, "p", "__pycache__", "broken.cpython-311.pyc"))
	assert.NoDirExists(t, filepath.Join(site, "p", "tests", "__pycache__"))
	assert.NotContains(t, compiler.String(), "hook ran", "a startup hook of a package ran in the compiler")
	mode, err := os.Stat(pyc)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), mode.Mode().Perm())

	// Python takes it: with the source's code changed behind its back, time and size as they were, the old value comes.
	source := filepath.Join(site, "p", "__init__.py")
	require.NoError(t, os.Remove(source))
	write(t, source, "X = 2\n")
	require.NoError(t, os.Chtimes(source, fi.ModTime(), fi.ModTime()))
	var said tail
	said.max = 1 << 10
	require.NoError(t, bubblewrap(t.Context(), Tool{Argv: []string{e.python(e.Current()), "-B", "-c", "import p; print(p.X)"}, Dir: "/", ReadOnly: []Bind{{e.Tree(), e.Current()}}, Stdout: &said, Stderr: &said}))
	assert.Contains(t, said.String(), "hook ran", "the control")
	assert.True(t, strings.HasSuffix(said.String(), "\n1\n"), said.String())

	ran := false // it is compiled once
	s.Exec = func(ctx context.Context, tool Tool) error { ran = true; return run(ctx, tool) }
	require.NoError(t, os.Remove(filepath.Join(site, "p", "broken.py")))
	require.NoError(t, s.CompileBytecode(t.Context(), "a", 1))
	assert.False(t, ran)
}

func TestBytecodeOfAGenerationThatIsGone(t *testing.T) {
	s := newStore(t)
	library(t, s, "a")
	require.NoError(t, s.CompileBytecode(t.Context(), "a", 7))
}

// What a compiler writes is foreign: only bytecode of the sources that were asked for, made of them as they are, is taken.
func TestWhatTheCompilerLeftIsNotBelieved(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	install(t, s, e, true, parcelOf(t, "p", "1", nil, map[string]string{"p/a.py": "A = 1\n", "p/b.py": "", "p/c.py": ""}))
	s.Exec = func(_ context.Context, tool Tool) error {
		out := filepath.Join(filepath.Dir(tool.Dir), "out", filepath.Join(e.Current(), siteRel, "p"))
		write(t, filepath.Join(out, "a.cpython-311.pyc"), "no header at all")
		write(t, filepath.Join(out, "more.cpython-311.pyc"), "x")
		return os.Symlink("/etc/passwd", filepath.Join(out, "b.cpython-311.pyc"))
	}
	before := everything(t, e.Tree())
	require.NoError(t, s.CompileBytecode(t.Context(), "a", 1))
	assert.Equal(t, before, everything(t, e.Tree()))
}
