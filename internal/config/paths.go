package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// paths expands what people write.
type paths struct {
	home string // what "~" stands for; empty when it is not known
	base string // what a relative path of a flag starts from; empty: relative paths are refused
}

// absolute expands a leading "~" and cleans. Links stay: they are followed when a kernel starts, not when a file is read.
func (p paths) absolute(s string) (string, error) {
	if s == "" {
		return "", errors.New("an empty path")
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("the path %s holds a control character", quote(s))
	}
	if s == "~" || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `~`+string(filepath.Separator)) {
		if p.home == "" {
			return "", fmt.Errorf("the path %s stands below a home folder that is not known", quote(s))
		}
		return filepath.Join(p.home, s[1:]), nil
	}
	if filepath.IsAbs(s) {
		return filepath.Clean(s), nil
	}
	if p.base == "" || strings.HasPrefix(s, "~") {
		return "", fmt.Errorf("the path %s must be absolute or begin with \"~/\"", quote(s))
	}
	return filepath.Join(p.base, s), nil
}

// tool reads "auto", "off" or a path.
func (p paths) tool(s string) (string, error) {
	if s == "auto" || s == "off" {
		return s, nil
	}
	path, err := paths{home: p.home}.absolute(s)
	if err != nil {
		return "", fmt.Errorf("must be auto, off or an absolute path, not %s", quote(s))
	}
	return path, nil
}

// resolve follows every link of path; what does not exist yet keeps its name below the part that does.
func resolve(path string) string {
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path || !errors.Is(err, fs.ErrNotExist) {
		return path
	}
	if _, err := os.Lstat(path); err == nil {
		return path // a link to nowhere: nothing below it can be a working folder
	}
	return filepath.Join(resolve(dir), filepath.Base(path))
}

// within says whether path is dir or lies below it; both are resolved.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
