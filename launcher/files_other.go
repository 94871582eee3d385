//go:build !unix

package launcher

import "io/fs"

const noWait = 0

func inode(fs.FileInfo) uint64 { return 0 }
