//go:build unix

package launcher

import (
	"io/fs"
	"syscall"
)

const noWait = syscall.O_NONBLOCK

// inode tells a file from the one that a rename put in its place.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
