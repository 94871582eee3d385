package dirs

import (
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces path as a whole. os.Rename replaces an existing file on Windows (MOVEFILE_REPLACE_EXISTING).
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once renamed, which is what is wanted
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ownedAlone: a profile folder's access list already keeps other users out; there is no mode to read.
func ownedAlone(string, fs.FileInfo) error { return nil }
