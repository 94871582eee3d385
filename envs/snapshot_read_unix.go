//go:build unix

package envs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// slurp reads a file with as few calls as there can be: a snapshot opens thousands of small ones, and os.File asks the poller about each. enough, when
// not nil, may end the reading early. Nothing that is opened can block: a FIFO is empty. The result may lie in buf.
func slurp(path string, most int, enough func([]byte) bool, buf []byte) ([]byte, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data := buf[:0]
	for len(data) <= most {
		if len(data) == cap(data) {
			data = append(make([]byte, 0, 8*cap(data)+slurpFirst), data...)
		}
		room := data[len(data):cap(data)]
		if enough != nil {
			room = room[:min(len(room), slurpPart)]
		}
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, room) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		data = data[:len(data)+n]
		if n == 0 || enough != nil && enough(data) {
			return data, nil
		}
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: unix.EFBIG}
}

const (
	slurpFirst = 32 << 10
	slurpPart  = 4 << 10 // of what may be enough
)

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
