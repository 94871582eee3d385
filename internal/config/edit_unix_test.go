//go:build unix

package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFileThatOthersCanWriteIsNotEdited(t *testing.T) {
	w := newWorld(t).user("version: 1\n")
	for _, path := range []string{w.s.User, filepath.Dir(w.s.User)} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, 0o777))
		_, err = Edit(t.Context(), w.s, Allow(everywhere, rules(t, "n.test")...))
		var insecure *InsecureError
		require.ErrorAs(t, err, &insecure)
		assert.Equal(t, path, insecure.Path)
		require.NoError(t, os.Chmod(path, info.Mode()))
	}
	require.NoError(t, os.Remove(w.s.User))
	require.NoError(t, os.Chmod(filepath.Dir(w.s.User), 0o777))
	_, err := Edit(t.Context(), w.s, Allow(everywhere, rules(t, "n.test")...))
	require.ErrorAs(t, err, new(*InsecureError))
	assert.NoFileExists(t, w.s.User)
	require.NoError(t, os.Chmod(filepath.Dir(w.s.User), 0o755))
	_, text := w.edit(Allow(everywhere, rules(t, "n.test")...))
	assert.NotEmpty(t, text, "the control")
}
