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

// The cache that is filled once serves by links: the stage and the cache are in one mount.
func TestStagedFilesShareTheirContentWithTheCache(t *testing.T) {
	x := newIndex(t)
	x.put(wheel(t, "leaf", "1.0", nil, nil))
	s := newStore(t)
	s.UV, s.Index = realUV(t), IndexSettings{URL: x.simple()}
	e := library(t, s, "a")
	p, err := s.Prepare(t.Context(), "a", Request{Add: []string{"leaf"}})
	require.NoError(t, err)
	_, err = s.Apply(t.Context(), p)
	require.NoError(t, err)
	assert.Greater(t, linksTo(t, filepath.Join(e.Tree(), siteRel, "leaf", "__init__.py")), uint64(1))
}

func linksTo(t testing.TB, path string) uint64 {
	t.Helper()
	fi, err := os.Stat(path)
	require.NoError(t, err)
	return uint64(fi.Sys().(*syscall.Stat_t).Nlink)
}
