package inner

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// checkIslands makes sure that every grant and every island stands where it should: whoever can write the folder around it may have swapped a part of its
// path between the look from outside and the mount.
func checkIslands(islands []link.Island) error {
	for _, i := range islands {
		if err := checkIsland(i); err != nil {
			return fmt.Errorf("%s is not what was to be shown there: %w", i.Path, err)
		}
	}
	return nil
}

func checkIsland(i link.Island) error {
	fd, err := unix.Open(i.Path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot be opened inside the sandbox: %w", err)
	}
	defer unix.Close(fd)
	// The path that the kernel would give to it: another one means that a component of Path is a link.
	if at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err != nil || at != i.Path {
		return fmt.Errorf("a link in its path leads to %q (%v)", at, err)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("cannot be looked at: %w", err)
	}
	if stat.Dev != i.Dev || stat.Ino != i.Ino {
		return fmt.Errorf("something else stands there: device %d and inode %d, not %d and %d", stat.Dev, stat.Ino, i.Dev, i.Ino)
	}
	if i.Writable {
		return nil
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return fmt.Errorf("its mount cannot be looked at: %w", err)
	}
	if fs.Flags&unix.MS_RDONLY == 0 { // ST_RDONLY has the same value
		return fmt.Errorf("it can be written")
	}
	return nil
}
