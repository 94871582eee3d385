//go:build !unix

package envs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// openFolder is what files are read from by their names alone.
type openFolder struct{ path string }

// atLarge opens files by their whole paths.
var atLarge openFolder

func enterFolder(path string) (openFolder, error) { return openFolder{path}, nil }

func (openFolder) leave() {}

// slurp reads a regular file as a whole.
func (f openFolder) slurp(name string, most int, _ func([]byte) bool, _ []byte) ([]byte, error) {
	path := filepath.Join(f.path, name)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fi, err := file.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	data, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err == nil && len(data) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it is too long")}
	}
	return data, err
}
