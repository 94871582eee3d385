//go:build !unix

package envs

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// slurp reads a regular file as a whole.
func slurp(path string, most int, _ func([]byte) bool, _ []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it is too long")}
	}
	return data, err
}
