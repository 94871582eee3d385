package probe

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// most is how much of a file is of interest.
const most = 64 << 10

var files = map[string]attempt{
	"stat":          func(a Args) (string, error) { _, err := os.Stat(a.Path); return "", err },
	"read":          read,
	"open":          func(a Args) (string, error) { return open(a, os.O_RDONLY) },
	"open to write": func(a Args) (string, error) { return open(a, os.O_WRONLY) },
	"create":        create,
	"try to create": tryCreate,
	"chmod":         func(a Args) (string, error) { return "", os.Chmod(a.Path, os.FileMode(a.number(0))) },
	"list":          list,
	"link":          func(a Args) (string, error) { return "", os.Link(a.Path, a.Other) },
	"symlink":       func(a Args) (string, error) { return "", os.Symlink(a.Other, a.Path) },
	"fill":          fill,
	"find sockets":  findSockets,
	"variables":     func(Args) (string, error) { return strings.Join(os.Environ(), "\n"), nil },
	"exit":          exit,
}

func read(a Args) (string, error) {
	f, err := os.Open(a.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most))
	return string(b), err
}

// open opens and closes: what is protected is never written, even where the protection fails.
func open(a Args, how int) (string, error) {
	f, err := os.OpenFile(a.Path, how|nonblock, 0)
	if err != nil {
		return "", err
	}
	return "", f.Close()
}

// create makes a file with Other as its text. It must not exist.
func create(a Args) (string, error) {
	f, err := os.OpenFile(a.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	if _, err := f.WriteString(a.Other); err != nil {
		f.Close()
		return "", err
	}
	return "", f.Close()
}

// tryCreate leaves nothing behind, so that inside finds what outside found.
func tryCreate(a Args) (string, error) {
	if _, err := create(a); err != nil {
		return "", err
	}
	return "", os.Remove(a.Path)
}

func list(a Args) (string, error) {
	entries, err := os.ReadDir(a.Path)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return strings.Join(names, " "), err
}

// fill writes as many bytes as the number says to a file, and removes it.
func fill(a Args) (string, error) {
	f, err := os.OpenFile(a.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer os.Remove(a.Path)
	defer f.Close()
	block := make([]byte, 4<<10)
	for left := a.number(0); left > 0; left -= int64(len(block)) {
		if _, err := f.Write(block[:min(left, int64(len(block)))]); err != nil {
			return "", err
		}
	}
	return "", nil
}

// findSockets names the sockets below Path. What cannot be entered holds none that could be used.
func findSockets(a Args) (string, error) {
	var found []string
	err := filepath.WalkDir(a.Path, func(path string, d os.DirEntry, err error) error {
		switch {
		case path == "/proc" || path == "/sys" || path == "/usr":
			return filepath.SkipDir
		case err == nil && d.Type()&os.ModeSocket != 0:
			found = append(found, path)
		}
		return nil
	})
	return strings.Join(found, " "), err
}

// exit ends the process with the number as its status.
func exit(a Args) (string, error) {
	syscall.Exit(int(a.number(0)))
	return "", nil
}
