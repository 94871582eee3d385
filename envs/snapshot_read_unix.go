//go:build unix

package envs

import (
	"io/fs"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// openFolder is what files are opened from by their names alone: the system need not walk a long path for each of thousands.
type openFolder struct {
	path string
	fd   int
}

func enterFolder(path string) (openFolder, error) {
	fd, err := openAt(unix.AT_FDCWD, path, unix.O_DIRECTORY)
	if err != nil {
		return openFolder{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return openFolder{path, fd}, nil
}

// atLarge opens files by their whole paths.
var atLarge = openFolder{fd: unix.AT_FDCWD}

func (f openFolder) leave() { unix.Close(f.fd) }

// slurp reads a file with as few calls as there can be: a snapshot opens thousands of small ones, and os.File asks the poller about each. enough, when
// not nil, may end the reading early. Nothing that is opened can block: a FIFO is empty. The result may lie in buf.
func (f openFolder) slurp(name string, most int, enough func([]byte) bool, buf []byte) ([]byte, error) {
	fd, err := openAt(f.fd, name, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(f.path, name), Err: err}
	}
	defer unix.Close(fd)
	data := buf[:0]
	for len(data) <= most {
		if len(data) == cap(data) {
			data = slices.Grow(data, room(fd, len(data)))
		}
		part := data[len(data):cap(data)]
		if enough != nil {
			part = part[:min(len(part), max(slurpPart, len(data)))]
		}
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, part) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: filepath.Join(f.path, name), Err: err}
		}
		data = data[:len(data)+n]
		if n == 0 || enough != nil && enough(data) {
			return data, nil
		}
	}
	return nil, &fs.PathError{Op: "read", Path: filepath.Join(f.path, name), Err: unix.EFBIG}
}

const (
	slurpFirst = 32 << 10
	slurpPart  = 8 << 10 // of what may be enough
)

// room is how much more a file needs, and one byte to see its end; only a long file is asked.
func room(fd, have int) int {
	var st unix.Stat_t
	if have > 0 && unix.Fstat(fd, &st) == nil && int64(have) <= st.Size && st.Size < recordMost {
		return int(st.Size) - have + 1
	}
	return max(slurpFirst, have)
}

func openAt(fd int, name string, flags int) (int, error) {
	return ignoringEINTR(func() (int, error) {
		return unix.Openat(fd, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY|flags, 0)
	})
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
