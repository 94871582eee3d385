package dirs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// MakePrivate makes path and its missing parents with mode 0700 and says when what is there already is not ours alone.
func MakePrivate(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return checkPrivate(path)
}

// Run returns the folder for running kernels' records, made if missing: below Runtime when that is a folder of this user that nobody else can
// enter, else below State. It never falls back to a shared place.
func (d Dirs) Run() (string, error) {
	var first error
	for _, dir := range d.RunCandidates() {
		if err := MakePrivate(dir); err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		return dir, nil
	}
	return "", fmt.Errorf("no private folder for running kernels: %w", first)
}

// RunCandidates lists where records can stand, best first. A reader takes the union: kernels started with and without
// XDG_RUNTIME_DIR must see each other.
func (d Dirs) RunCandidates() []string {
	var dirs []string
	if d.Runtime != "" && checkPrivate(filepath.Dir(d.Runtime)) == nil {
		dirs = append(dirs, filepath.Join(d.Runtime, "kernels"))
	}
	return append(dirs, filepath.Join(d.State, "run", "kernels"))
}

// NotPrivateError is returned for a folder that another user owns or can enter.
type NotPrivateError struct {
	Path   string
	Reason string
}

func (e *NotPrivateError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }

// checkPrivate does not follow a link at path itself: whoever could plant one could lead us elsewhere.
func checkPrivate(path string) error {
	fi, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return &NotPrivateError{path, "is a symbolic link"}
	}
	if !fi.IsDir() {
		return &NotPrivateError{path, "is not a folder"}
	}
	return ownedAlone(path, fi)
}

// WriteVolatile is WriteFile for what a crash may lose: it is replaced as a whole too, but not forced to the disk, which can take 20 ms.
func WriteVolatile(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
