//go:build unix

package sandbox

import (
	"io/fs"
	"syscall"
)

func hasOtherNames(d fs.DirEntry) bool {
	info, err := d.Info()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}
