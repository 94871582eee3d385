//go:build !linux

package envs

import (
	"io/fs"
	"os"
)

// renameNew renames what does not exist there yet. Only the owner of the writer's lock makes files in a tree.
func renameNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}
