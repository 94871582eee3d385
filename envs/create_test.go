package envs

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func names(list []Package) (out []string) {
	for _, p := range list {
		out = append(out, p.Name)
	}
	return out
}

func TestCreateBringsTheKernelIn(t *testing.T) {
	for _, isolated := range []bool{false, true} {
		x := kernelIndex(t)
		s := newStore(t)
		s.Index = IndexSettings{URL: x.simple()}
		made, err := s.Create(t.Context(), CreateOptions{Name: "Study", Python: systemPython, Isolated: isolated})
		require.NoError(t, err)
		e, err := s.Get("study")
		require.NoError(t, err)
		assert.Equal(t, made, e)
		assert.Equal(t, []Owned{{Name: "ipykernel", Version: "7.0"}, {Name: "jupyter-client", Version: "8.1"}}, e.Owned)
		assert.Equal(t, []string{"ipykernel"}, e.Requested)
		require.NoError(t, e.Check())

		list, _, err := e.Packages()
		require.NoError(t, err)
		if isolated {
			assert.Equal(t, []string{"ipykernel", "jupyter-client"}, names(list))
		} else {
			assert.Contains(t, names(list), "pip", "the interpreter's own are inherited")
		}
		target, err := os.Readlink(e.Current())
		require.NoError(t, err)
		assert.Equal(t, filepath.Join("gen", "1"), target)
		assert.FileExists(t, filepath.Join(e.Tree(), "share", "jupyter", "kernels", "x", "kernel.json"))
		script, err := os.ReadFile(filepath.Join(e.Tree(), "bin", "tinykernel"))
		require.NoError(t, err)
		assert.Contains(t, string(script), e.Current()+"/bin/python")
		cfg, err := os.ReadFile(filepath.Join(e.Tree(), "pyvenv.cfg"))
		require.NoError(t, err)
		assert.Contains(t, string(cfg), e.Current())
		bytecodeIsValid(t, e)
		stages, err := os.ReadDir(filepath.Join(s.Work, "stage"))
		require.NoError(t, err)
		assert.Empty(t, stages)
	}
}

// bytecodeIsValid: Python takes a .pyc whose header has the source's time and length.
func bytecodeIsValid(t *testing.T, e *Environment) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(e.site(), "ipykernel", "__pycache__", "__init__.*.pyc"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	pyc, err := os.ReadFile(found[0])
	require.NoError(t, err)
	fi, err := os.Stat(filepath.Join(e.site(), "ipykernel", "__init__.py"))
	require.NoError(t, err)
	assert.Equal(t, uint32(fi.ModTime().Unix()), binary.LittleEndian.Uint32(pyc[8:]))
	assert.Equal(t, uint32(fi.Size()), binary.LittleEndian.Uint32(pyc[12:]))
}

func TestCreateTakesTheKernelThatIsThere(t *testing.T) {
	s := newStore(t)
	s.Exec = nil
	base := fakeBase(t)
	write(t, filepath.Join(base, "site", "ipykernel-6.17.1.egg-info"), "Name: ipykernel\nVersion: 6.17.1\n")
	write(t, filepath.Join(base, "site", "jupyter_client-7.4.egg-info", "PKG-INFO"), "Name: jupyter_client\nVersion: 7.4\n")
	e, err := s.Create(t.Context(), CreateOptions{Name: "here", Python: filepath.Join(base, "bin", "python3")})
	require.NoError(t, err)
	assert.Empty(t, e.Owned)
	assert.Empty(t, e.Requested)
}

// fakeBase is an interpreter whose probe names our own folder as its site-packages: a program that starts the system's Python and changes one answer.
func fakeBase(t *testing.T) string {
	t.Helper()
	base := private(t)
	bin := filepath.Join(base, "bin")
	script := `#!/bin/sh
case "$*" in
*kernel-launch-probe*) exec /usr/bin/python3 -I -S -B -c 'import sys
code = sys.argv[1].replace("sys.stdout.write(", "facts.update(path=BASE + \"/bin/python3\", site_packages=[BASE + \"/site\"]); sys.stdout.write(")
exec(code, {"BASE": "` + base + `"})' "$5" ;;
esac
exec -a "$0" /usr/bin/python3 "$@"
`
	script = strings.Replace(script, "#!/bin/sh", "#!/bin/bash", 1)
	write(t, filepath.Join(bin, "python3"), script)
	require.NoError(t, os.Chmod(filepath.Join(bin, "python3"), 0o755))
	return base
}

func TestAFailedCreateLeavesNothing(t *testing.T) {
	x := newIndex(t) // no ipykernel
	s := newStore(t)
	s.Index = IndexSettings{URL: x.simple()}
	_, err := s.Create(t.Context(), CreateOptions{Name: "none", Python: systemPython, Isolated: true})
	var nk *NoKernelError
	require.ErrorAs(t, err, &nk)
	var up *UpstreamError
	require.ErrorAs(t, err, &up)
	assert.Equal(t, 404, up.Status)
	assert.Equal(t, x.simple()+"/ipykernel/", up.URL)
	entries, err := os.ReadDir(filepath.Join(s.Root, Python))
	require.NoError(t, err)
	assert.Empty(t, entries)
	_, err = s.Get("none")
	var nf *NotFoundError
	require.ErrorAs(t, err, &nf)
}
