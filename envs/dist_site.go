package envs

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// described is a file or folder in a path entry that describes a distribution.
type described struct {
	folder folder
	file   string // its name in the folder; empty: the folder itself is an egg
	isDir  bool
}

func (d described) path() string { return filepath.Join(d.folder.path, d.file) }

// in is a name in a folder whose path is clean already.
func in(name string) string { return string(filepath.Separator) + name }

func (d described) isDistInfo() bool { return hasSuffixFold(d.file, ".dist-info") }

// isDescription takes no "~" names: pip renames what it is about to remove to such a name, and a killed pip leaves it.
func isDescription(name string) bool {
	return !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, ".") && (hasSuffixFold(name, ".dist-info") || hasSuffixFold(name, ".egg-info"))
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// read never fails: what is wrong stands in Broken.
func (d described) read() Package { return d.readFrom(d.header()) }

func (d described) readFrom(head map[string]string, err error) Package {
	p := Package{Owner: d.folder.owner, Folder: d.folder.path, Info: d.path()}
	file := d.file
	if file == "" {
		file = filepath.Base(d.folder.path)
	}
	stem, stemVersion := stemName(file)
	named := isDistName(head["name"])
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Broken = "it has no metadata"
	case err != nil:
		p.Broken = "its metadata cannot be read: " + value(err.Error())
	case !named:
		p.Broken = "its metadata names no distribution"
	case head["version"] == "":
		p.Broken = "its metadata has no version"
	}
	p.Name, p.Version = normalName(head["name"]), head["version"]
	if !named {
		p.Name = normalName(value(stem))
	}
	if p.Version == "" {
		p.Version = value(stemVersion)
	}
	return p
}

func (d described) header() (map[string]string, error) {
	for _, p := range d.metadataFiles() {
		head, err := readHeader(p, "name", "version")
		if !errors.Is(err, fs.ErrNotExist) {
			return head, err
		}
	}
	if d.file == "" && !d.isDir {
		return zipHeader(d.folder.path)
	}
	return nil, fs.ErrNotExist
}

func (d described) metadataFiles() []string {
	p := d.path()
	switch {
	case d.file == "" && !d.isDir:
		return nil
	case d.file == "":
		return []string{p + in("EGG-INFO") + in("PKG-INFO")}
	case d.isDistInfo():
		return []string{p + in("METADATA")}
	case d.isDir:
		return []string{p + in("PKG-INFO")}
	}
	return []string{p}
}

// zipHeader reads the description inside a zipped egg.
func zipHeader(path string) (map[string]string, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open("EGG-INFO/PKG-INFO")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return headerFrom(f, []string{"name", "version"})
}

// listing is what one path entry holds: one look at the folder answers all questions.
type listing struct {
	folder    folder
	entries   []fs.DirEntry
	described []described
	pth       []string
	start     []string
	custom    []string // sitecustomize.py, usercustomize.py
}

// list reads one path entry. An entry that does not exist is none.
func list(f folder) (listing, error) {
	l := listing{folder: f}
	if strings.HasSuffix(f.path, ".egg") {
		fi, err := os.Stat(f.path)
		if err == nil {
			l.described = []described{{folder: f, isDir: fi.IsDir()}}
		}
		if err != nil || !fi.IsDir() {
			return l, missingIsNone(err)
		}
	}
	entries, err := os.ReadDir(f.path)
	for _, e := range entries {
		l.add(e)
	}
	l.entries = entries
	return l, missingIsNone(err)
}

func (l *listing) add(e fs.DirEntry) {
	name := e.Name()
	switch {
	case isDescription(name):
		l.described = append(l.described, described{l.folder, name, e.IsDir() || isLinkToDir(l.folder.path, e)})
	case strings.HasSuffix(name, ".pth"):
		l.pth = append(l.pth, name)
	case strings.HasSuffix(name, ".start"):
		l.start = append(l.start, name)
	case name == "sitecustomize.py" || name == "usercustomize.py":
		l.custom = append(l.custom, name)
	case (name == "sitecustomize" || name == "usercustomize") && (e.IsDir() || isLinkToDir(l.folder.path, e)):
		l.custom = append(l.custom, filepath.Join(name, "__init__.py"))
	}
}

func isLinkToDir(dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	fi, err := os.Stat(filepath.Join(dir, e.Name()))
	return err == nil && fi.IsDir()
}

func missingIsNone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
