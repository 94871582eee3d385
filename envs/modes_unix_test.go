//go:build unix

package envs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The umask belongs to the process, so no other test may run beside this one: none here is parallel.
func TestFilesOfOursAreNobodyElsesWhateverTheUmask(t *testing.T) {
	for _, mask := range []int{0, 0o077} {
		old := syscall.Umask(mask)
		x := kernelIndex(t)
		s := newStore(t)
		s.Index = IndexSettings{URL: x.simple()}
		e, err := s.Create(t.Context(), CreateOptions{Name: "a", Python: systemPython, Isolated: true})
		syscall.Umask(old)
		require.NoError(t, err)
		for _, root := range []string{s.Root, s.Work, s.Cache} {
			require.NoError(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
				require.NoError(t, err)
				fi, err := d.Info()
				require.NoError(t, err)
				if fi.Mode()&fs.ModeSymlink == 0 {
					assert.Equal(t, wantMode(e, p, fi), fi.Mode().Perm(), "umask %o: %s", mask, p)
				}
				return nil
			}))
		}
		python, err := os.Stat(filepath.Join(e.Tree(), "bin", "tinykernel"))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o755), python.Mode().Perm())
	}
}

func wantMode(e *Environment, p string, fi fs.FileInfo) fs.FileMode {
	inTree := p == e.Tree() || strings.HasPrefix(p, e.Tree()+"/")
	switch {
	case inTree && (fi.IsDir() || fi.Mode()&0o100 != 0):
		return 0o755
	case inTree:
		return 0o644
	case fi.IsDir():
		return 0o700
	}
	return 0o600
}
