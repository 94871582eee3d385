//go:build unix

package dirs

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/google/renameio/v2"
)

// WriteFile replaces path as a whole: a reader sees the old content or the new one, and a crash leaves one of them.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	return renameio.WriteFile(path, data, mode, renameio.IgnoreUmask())
}

func ownedAlone(path string, fi fs.FileInfo) error {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return &NotPrivateError{path, "has no owner that can be read"}
	}
	if int(st.Uid) != os.Geteuid() {
		return &NotPrivateError{path, fmt.Sprintf("belongs to user %d, not to %d", st.Uid, os.Geteuid())}
	}
	if m := fi.Mode().Perm(); m&0o077 != 0 {
		return &NotPrivateError{path, fmt.Sprintf("has mode %04o; others can enter it", m)}
	}
	return nil
}
