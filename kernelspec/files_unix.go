//go:build unix

package kernelspec

import (
	"os"
	"syscall"
)

// errNotFolder is met where a search path names a file.
var errNotFolder error = syscall.ENOTDIR

// ownedByMe says whether path belongs to the user of this process.
func ownedByMe(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
