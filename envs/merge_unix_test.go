//go:build unix

package envs

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergeRefusesWhatAWheelMayNotBring(t *testing.T) {
	const site = "lib/python3.11/site-packages/"
	plant := func(rel string) func(*testing.T, string) {
		return func(t *testing.T, out string) { write(t, filepath.Join(out, rel), "x") }
	}
	for what, c := range map[string]struct {
		harm   func(t *testing.T, out string)
		reason string
	}{
		"pyvenv.cfg":          {plant("pyvenv.cfg"), "no place at the top"},
		"bin/python":          {plant("bin/python"), "program of the environment"},
		"bin/python3.11":      {plant("bin/python3.11"), "program of the environment"},
		"bin/PIP3":            {plant("bin/PIP3"), "program of the environment"},
		"bin/activate.fish":   {plant("bin/activate.fish"), "program of the environment"},
		"a file as lib64":     {plant("lib64"), "no place at the top"},
		"another Python":      {plant("lib/python3.12/site-packages/x.py"), "outside of"},
		"another folder":      {plant("opt/x"), "outside of"},
		"a control character": {plant(site + "a\nb.py"), "control characters"},
		"no UTF-8":            {plant(site + "a\xff.py"), "control characters"},
		"a link": {func(t *testing.T, out string) {
			require.NoError(t, os.MkdirAll(filepath.Join(out, site), 0o755))
			require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(out, site, "l")))
		}, "neither a regular file"},
		"a linked folder": {func(t *testing.T, out string) {
			require.NoError(t, os.MkdirAll(filepath.Join(out, site), 0o755))
			require.NoError(t, os.Symlink("/etc", filepath.Join(out, site, "d")))
		}, "neither a regular file"},
		"a FIFO": {func(t *testing.T, out string) {
			require.NoError(t, os.MkdirAll(filepath.Join(out, site), 0o755))
			require.NoError(t, syscall.Mkfifo(filepath.Join(out, site, "p"), 0o644))
		}, "neither a regular file"},
	} {
		t.Run(what, func(t *testing.T) {
			e := planted(t, newStore(t), Python, "a")
			write(t, filepath.Join(e.Tree(), site, "there.py"), "old")
			out := t.TempDir()
			write(t, filepath.Join(out, site, "good", "__init__.py"), "")
			c.harm(t, out)
			err := mergeFresh(e, out)
			var me *MergeError
			require.ErrorAs(t, err, &me)
			assert.Contains(t, err.Error(), c.reason)
			assert.NotContains(t, err.Error(), "\xff")
			assert.NoDirExists(t, filepath.Join(e.Tree(), site, "good"), "nothing moved")
			data, err := os.ReadFile(filepath.Join(e.Tree(), site, "there.py"))
			require.NoError(t, err)
			assert.Equal(t, "old", string(data))
		})
	}
}

func TestMergeNamesEveryFault(t *testing.T) {
	e := planted(t, newStore(t), Python, "a")
	out := t.TempDir()
	write(t, filepath.Join(out, "pyvenv.cfg"), "")
	write(t, filepath.Join(out, "bin", "python"), "")
	err := mergeFresh(e, out)
	assert.ErrorContains(t, err, "pyvenv.cfg")
	assert.ErrorContains(t, err, "bin/python")
}

func TestMergeMovesTheRest(t *testing.T) {
	e := planted(t, newStore(t), Python, "a")
	require.NoError(t, os.Symlink("lib", filepath.Join(e.Tree(), "lib64")))
	out := t.TempDir()
	for _, f := range []string{"lib64/python3.11/site-packages/native.so", "lib/python3.11/site-packages/p/a.py", "share/man/x.1", "etc/x.conf", "include/x.h", "bin/python-argcomplete", "lib/libx.so"} {
		write(t, filepath.Join(out, f), "x")
	}
	info := filepath.Join(out, "lib64", "python3.11", "site-packages", "p-1.dist-info")
	write(t, filepath.Join(info, "METADATA"), "Name: p\nVersion: 1\n")
	write(t, filepath.Join(info, "RECORD"), "native.so,,\np/a.py,,\n../../../share/man/x.1,,\n../../../etc/x.conf,,\n../../../include/x.h,,\n../../../bin/python-argcomplete,,\n../../../lib/libx.so,,\np-1.dist-info/METADATA,,\np-1.dist-info/RECORD,,\n")
	program := filepath.Join(out, "bin", "python-argcomplete")
	require.NoError(t, os.Chmod(program, 0o777|os.ModeSetuid))
	require.NoError(t, os.Chtimes(program, modTime, modTime))
	require.NoError(t, mergeFresh(e, out))
	assert.FileExists(t, filepath.Join(e.site(), "native.so"))
	assert.FileExists(t, filepath.Join(e.site(), "p", "a.py"))
	fi, err := os.Stat(filepath.Join(e.Tree(), "bin", "python-argcomplete"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), fi.Mode(), "no set-user-ID bit gets in")
	assert.True(t, fi.ModTime().Equal(modTime))
}
