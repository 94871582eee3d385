package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// IslandError is a grant or an island that is no longer what the plan says. The start ends there: something else in its place could be written or read
// from inside.
type IslandError struct {
	Path string
	Err  error
}

func (e *IslandError) Error() string {
	return fmt.Sprintf("%s changed between the plan and the start: %v", quoted(e.Path), e.Err)
}

func (e *IslandError) Unwrap() error { return e.Err }

// pinned is what stands at a path, held open, so that nothing can take its place in what bwrap and the inside compare with.
type pinned struct {
	Island
	file *os.File
}

// pin opens what a plan shows without following any link. An island must be a folder; a grant can be a file.
func pin(m Mount) (*pinned, error) {
	path, kind := m.Source, 0
	if m.Island {
		kind = unix.O_DIRECTORY
	}
	dir, err := openBeneath(unix.AT_FDCWD, filepath.Dir(path), unix.O_DIRECTORY, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_MAGICLINKS)
	if err != nil {
		return nil, &IslandError{path, err}
	}
	defer unix.Close(dir)
	fd, err := openBeneath(dir, filepath.Base(path), kind, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_BENEATH)
	if err != nil {
		return nil, &IslandError{path, err}
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = unix.ELOOP // the link itself was opened
	}
	if err != nil {
		return nil, &IslandError{path, errors.Join(err, unix.Close(fd))}
	}
	return &pinned{Island{path, uint64(st.Dev), st.Ino, m.Kind == MountReadWrite}, os.NewFile(uintptr(fd), path)}, nil
}

// openBeneath is openat2. A kernel before 5.6 has none: there the folders on the way are opened one by one.
func openBeneath(dir int, path string, kind int, resolve uint64) (int, error) {
	flags := unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW | kind
	for {
		fd, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: uint64(flags), Resolve: resolve})
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
	at, names := dir, strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if filepath.IsAbs(path) {
		root, err := unix.Open("/", flags, 0)
		if err != nil {
			return -1, err
		}
		at = root
	}
	for i, name := range names {
		way := flags
		if i < len(names)-1 {
			way |= unix.O_DIRECTORY
		}
		next, err := unix.Openat(at, name, way, 0)
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
