package launcher

import (
	"io/fs"
	"syscall"
)

// identity is a file's number, and when anything about it last changed.
func identity(info fs.FileInfo) (inode uint64, changed int64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ino, s.Ctim.Nano()
}
