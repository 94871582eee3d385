package inner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

func island(t *testing.T, path string) link.Island {
	t.Helper()
	var s unix.Stat_t
	require.NoError(t, unix.Lstat(path, &s))
	return link.Island{Path: path, Dev: s.Dev, Ino: s.Ino}
}

// shore is a writable folder with islands and what could take their place.
func shore(t *testing.T) string {
	t.Helper()
	dir := folder(t)
	for _, name := range []string{".git", "other/.git", "deep/er/.venv"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	require.NoError(t, os.WriteFile(dir+"/other/file", nil, 0o600))
	require.NoError(t, os.Symlink("other", dir+"/way"))
	require.NoError(t, os.Symlink("other/.git", dir+"/swapped"))
	return dir
}

func TestIslandsAreCheckedFromInside(t *testing.T) {
	dir := shore(t)
	git, file := island(t, dir+"/.git"), island(t, dir+"/other/file")
	other := island(t, dir+"/other/.git")
	moved, away, number := git, git, git
	grant := island(t, dir)
	grant.Writable = true
	moved.Path, number.Ino, away.Dev = dir+"/other/.git", git.Ino+1, git.Dev+1
	mounts := []string{"--bind", dir, dir}
	for _, i := range []string{"/.git", "/other/.git", "/other/file", "/deep/er/.venv"} {
		mounts = append(mounts, "--ro-bind", dir+i, dir+i)
	}
	open := []string{"--bind", dir, dir}
	for name, c := range map[string]struct {
		options []string
		islands []link.Island
		says    string
	}{
		"as they should be":  {mounts, []link.Island{git, other, file, island(t, dir+"/deep/er/.venv")}, ""},
		"another folder":     {mounts, []link.Island{git, moved}, dir + "/other/.git is not what was to be shown there: something else stands there"},
		"a grant":            {open, []link.Island{grant}, ""},
		"another grant":      {[]string{"--bind", dir + "/other", dir}, []link.Island{grant}, dir + " is not what was to be shown there: something else stands there"},
		"another inode":      {mounts, []link.Island{number}, "something else stands there"},
		"another device":     {mounts, []link.Island{away}, "something else stands there"},
		"no mount":           {open, []link.Island{git}, dir + "/.git is not what was to be shown there: it can be written"},
		"no mount of a file": {open, []link.Island{file}, "it can be written"},
		"a link on the way":  {mounts, []link.Island{{Path: dir + "/way/.git", Dev: other.Dev, Ino: other.Ino}}, `a link in its path leads to "` + dir + "/other/.git"},
		"a link at its end":  {mounts, []link.Island{{Path: dir + "/swapped", Dev: other.Dev, Ino: other.Ino}}, "something else stands there"},
		"nothing there":      {mounts, []link.Island{{Path: dir + "/gone", Dev: 1, Ino: 2}}, "cannot be opened inside the sandbox: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			order := link.Order{Argv: []string{"/bin/true"}, Dir: "/", Islands: c.islands, Files: []link.File{{Path: dir + "/written", Mode: 0o600}}}
			err := jailed(t, c.options...).Start(short(t), order)
			if c.says == "" {
				require.NoError(t, err)
				require.NoError(t, os.Remove(dir+"/written"))
				return
			}
			var failed *link.FailedError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, "islands", failed.Stage)
			assert.Contains(t, failed.Text, c.says)
			assert.NoFileExists(t, dir+"/written", "nothing is done before")
		})
	}
}
