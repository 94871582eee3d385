package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// IslandError is an island that is no longer what the plan says. The start ends there: something else in its place could be written or read from inside.
type IslandError struct {
	Path string
	Err  error
}

func (e *IslandError) Error() string {
	return fmt.Sprintf("the folder %s, which stays read-only, changed between the plan and the start: %v", quoted(e.Path), e.Err)
}

func (e *IslandError) Unwrap() error { return e.Err }

// pinned is an island's folder held open, so that nothing can take its place in what bwrap and the inside compare with.
type pinned struct {
	Island
	file *os.File
}

// pin opens an island without following any link, and never through another mount's name: what stands there now must be a folder.
func pin(path string) (*pinned, error) {
	dir, err := openBeneath(unix.AT_FDCWD, filepath.Dir(path), unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_MAGICLINKS)
	if err != nil {
		return nil, &IslandError{path, err}
	}
	defer unix.Close(dir)
	fd, err := openBeneath(dir, filepath.Base(path), unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_BENEATH)
	if err != nil {
		return nil, &IslandError{path, err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &IslandError{path, errors.Join(err, unix.Close(fd))}
	}
	return &pinned{Island{path, uint64(st.Dev), st.Ino}, os.NewFile(uintptr(fd), path)}, nil
}

// openBeneath is openat2. A kernel before 5.6 has none: there the folders on the way are opened one by one.
func openBeneath(dir int, path string, resolve uint64) (int, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	for {
		fd, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: flags, Resolve: resolve})
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM):
			return openSteps(dir, path, flags)
		default:
			return fd, err
		}
	}
}

func openSteps(dir int, path string, flags int) (int, error) {
	at := dir
	if filepath.IsAbs(path) {
		root, err := unix.Open("/", flags, 0)
		if err != nil {
			return -1, err
		}
		at = root
	}
	for _, name := range bytes.Split([]byte(path), []byte("/")) {
		if len(name) == 0 {
			continue
		}
		next, err := unix.Openat(at, string(name), flags, 0)
		if at != dir {
			unix.Close(at)
		}
		if err != nil {
			return -1, err
		}
		at = next
	}
	return at, nil
}

// bindsDescriptors reports whether this bwrap mounts an open folder and compares what it has mounted with it. Versions that do cannot be told by number,
// since distributions carried the option back; the program's text names it, and running it to ask would cost more than reading it.
func bindsDescriptors(program string) bool {
	data, err := os.ReadFile(program)
	return err == nil && bytes.Contains(data, []byte("--ro-bind-fd\x00"))
}
