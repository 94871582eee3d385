package dirs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func env(kv map[string]string) func(string) string { return func(k string) string { return kv[k] } }

func TestForEachSystem(t *testing.T) {
	d, err := For("linux", env(map[string]string{"HOME": "/home/u", "XDG_RUNTIME_DIR": "/run/user/7", "XDG_CONFIG_HOME": "relative"}))
	require.NoError(t, err)
	assert.Equal(t, Dirs{
		Home: "/home/u", Config: "/home/u/.config/kernel-launch", Data: "/home/u/.local/share/kernel-launch", State: "/home/u/.local/state/kernel-launch",
		Cache: "/home/u/.cache/kernel-launch", Runtime: "/run/user/7/kernel-launch", Machine: "/etc/kernel-launch",
	}, d)

	d, err = For("darwin", env(map[string]string{"HOME": "/Users/u"}))
	require.NoError(t, err)
	assert.Equal(t, "/Users/u/Library/Application Support/kernel-launch/data", d.Data)

	d, err = For("windows", env(map[string]string{"USERPROFILE": `C:\Users\u`}))
	require.NoError(t, err)
	assert.Equal(t, `C:\Users\u\AppData\Local\kernel-launch\data`, d.Data)
}

func TestForNeedsAHome(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		_, err := For(goos, env(nil))
		assert.Error(t, err, goos)
	}
}

func TestRunFallsBackWhenTheRuntimeFolderIsNotOurs(t *testing.T) {
	base := t.TempDir()
	shared := filepath.Join(base, "shared")
	require.NoError(t, os.Mkdir(shared, 0o755))
	require.NoError(t, os.Chmod(shared, 0o777))
	d, err := For("linux", env(map[string]string{"HOME": base, "XDG_RUNTIME_DIR": shared}))
	require.NoError(t, err)
	dir, err := d.Run()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(d.State, "run", "kernels"), dir)

	require.NoError(t, os.Chmod(shared, 0o700))
	dir, err = d.Run()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(shared, "kernel-launch", "kernels"), dir)
}

func TestALinkIsNoPrivateFolder(t *testing.T) {
	base := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(base, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(base, "link")))
	var np *NotPrivateError
	require.ErrorAs(t, checkPrivate(filepath.Join(base, "link")), &np)
	assert.Contains(t, np.Reason, "link")
}

func TestWriteFileReplacesWhole(t *testing.T) {
	p := filepath.Join(t.TempDir(), "f")
	require.NoError(t, WriteFile(p, []byte("one"), 0o600))
	require.NoError(t, WriteFile(p, []byte("two"), 0o600))
	b, err := os.ReadFile(p)
	require.NoError(t, err)
	assert.Equal(t, "two", string(b))
	fi, err := os.Stat(p)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
}
