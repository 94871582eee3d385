package envs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

func runnable(fi fs.FileInfo) bool { return strings.EqualFold(filepath.Ext(fi.Name()), ".exe") }

// identity changes when the program at path is replaced, upgraded or reached by another way.
func identity(path string) (string, error) {
	canonical, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	fi, err := os.Stat(canonical)
	if err != nil {
		return "", err
	}
	var made int64
	if a, ok := fi.Sys().(*syscall.Win32FileAttributeData); ok {
		made = a.CreationTime.Nanoseconds()
	}
	return fmt.Sprintf("%s|%s|%d|%d|%d", path, canonical, fi.ModTime().UnixNano(), made, fi.Size()), nil
}
