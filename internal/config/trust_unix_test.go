//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFileThatOthersCanChangeIsRefused(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, w *world) string{
		"the file, by everybody": func(t *testing.T, w *world) string { return chmod(t, w.s.User, 0o606) },
		"the file, by a group":   func(t *testing.T, w *world) string { return chmod(t, w.s.User, 0o660) },
		"its folder":             func(t *testing.T, w *world) string { return chmod(t, filepath.Dir(w.s.User), 0o777) },
		"what it links to": func(t *testing.T, w *world) string {
			to := filepath.Join(w.base, "dotfiles.yaml")
			require.NoError(t, os.Rename(w.s.User, to))
			require.NoError(t, os.Symlink("../../dotfiles.yaml", w.s.User))
			return chmod(t, to, 0o666)
		},
		"the folder of what it links to": func(t *testing.T, w *world) string {
			dir := filepath.Join(w.base, "shared")
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Rename(w.s.User, filepath.Join(dir, "config.yaml")))
			require.NoError(t, os.Symlink(filepath.Join(dir, "config.yaml"), w.s.User))
			return chmod(t, dir, 0o777)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).user("sandbox: {network: none}\n")
			w.load() // the control: nothing but the mode is wrong
			at := open(t, w)
			var e *InsecureError
			require.ErrorAs(t, w.fails(), &e)
			assert.Equal(t, w.s.User, e.File)
			assert.Equal(t, filepath.Base(at), filepath.Base(e.Path))
			assert.Contains(t, e.Error(), "others can write it")
		})
	}
}

// chmod is not subject to the umask, as the mode of a new file is.
func chmod(t *testing.T, path string, mode os.FileMode) string {
	require.NoError(t, os.Chmod(path, mode))
	return path
}

func TestALinkToAPrivateFileIsFine(t *testing.T) {
	w := newWorld(t).user("sandbox: {network: none}\n")
	to := filepath.Join(w.base, "dotfiles.yaml")
	require.NoError(t, os.Rename(w.s.User, to))
	require.NoError(t, os.Symlink(to, w.s.User))
	assert.NotEmpty(t, w.load().Origins("sandbox.network"))
}

func TestAStickyFolderIsFine(t *testing.T) {
	w := newWorld(t).user("")
	chmod(t, filepath.Dir(w.s.User), 0o777|os.ModeSticky)
	w.load()
}

func TestLinksInACircle(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.Symlink("config.yaml", w.s.User))
	var e *InsecureError
	require.ErrorAs(t, w.fails(), &e)
	assert.Contains(t, e.Error(), "too many links")
}

func TestAPipeIsNoConfiguration(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, syscall.Mkfifo(w.s.User, 0o600))
	var e *InsecureError
	require.ErrorAs(t, w.fails(), &e)
	assert.Contains(t, e.Error(), "not a regular file")
}

func TestWhoMayOwnIt(t *testing.T) {
	for name, tc := range map[string]struct {
		owner, me int
		mode      os.FileMode
		want      string
	}{
		"mine":               {1000, 1000, 0o600, ""},
		"mine, readable":     {1000, 1000, 0o644, ""},
		"root's":             {0, 1000, 0o644, ""},
		"another user's":     {1001, 1000, 0o600, "belongs to user 1001, not to 1000 or root"},
		"a user's, for root": {1000, 0, 0o600, "belongs to user 1000, not to root"},
		"group can write":    {1000, 1000, 0o620, "has mode 0620: others can write it"},
		"all can write":      {0, 1000, 0o602, "has mode 0602: others can write it"},
	} {
		assert.Equal(t, tc.want, judge(tc.owner, tc.me, tc.mode, false), name)
	}
	assert.Empty(t, judge(1000, 1000, 0o777, true), "a link's mode means nothing")
	assert.NotEmpty(t, judge(1001, 1000, 0o777, true), "its owner does")
}
