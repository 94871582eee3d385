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

// identity is which file stands at a path itself, and how many names it has.
func identity(path string) (id inode, names int, ok bool) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return inode{}, 0, false
	}
	return inode{uint64(st.Dev), uint64(st.Ino)}, int(st.Nlink), true
}
