package envs

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncTree has the disk hold the tree before the manifest that vouches for it.
func syncTree(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}
