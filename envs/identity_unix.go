//go:build unix

package envs

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func runnable(fi fs.FileInfo) bool { return fi.Mode().Perm()&0o111 != 0 }

// identity changes when the program at path is replaced, upgraded or reached by another way.
func identity(path string) (string, error) {
	canonical, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat(canonical, &st); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s|%s|%d.%d|%d.%d|%d|%d", path, canonical, st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec, st.Size, st.Ino), nil
}
