package envs

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	p := Package{Name: normalName(head["name"]), Version: head["version"], Owner: d.folder.owner, Folder: d.folder.path, Info: d.path()}
	named := isDistName(head["name"])
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Broken = "it has no metadata"
	case err != nil:
		p.Broken = "its metadata cannot be read: " + value(err.Error())
	case !named:
		p.Broken = "its metadata names no distribution"
	case p.Version == "":
		p.Broken = "its metadata has no version"
	}
	stem, version := d.stem()
	if !named {
		p.Name = normalName(value(stem))
	}
	if p.Version == "" {
		p.Version = value(version)
	}
	return p
}

// stem is what the file's name alone says.
func (d described) stem() (name, version string) {
	if d.file == "" {
		return stemName(filepath.Base(d.folder.path))
	}
	return stemName(d.file)
}

func (d described) header() (map[string]string, error) {
	if d.file == "" && !d.isDir {
		return zipHeader(d.folder.path)
	}
	return readHeader(d.folder.path+in(d.metadataFile()), "name", "version")
}

// metadataFile is the file that describes the distribution, by its name in the folder; empty when that lies in a zipped egg.
func (d described) metadataFile() string {
	switch {
	case d.file == "" && !d.isDir:
		return ""
	case d.file == "":
		return "EGG-INFO" + in("PKG-INFO")
	case d.isDistInfo():
		return d.file + in("METADATA")
	case d.isDir:
		return d.file + in("PKG-INFO")
	}
	return d.file
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
	entries   []fs.DirEntry // in no order
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
	dir, err := os.Open(f.path)
	if err != nil {
		return l, missingIsNone(err)
	}
	defer dir.Close()
	l.entries, err = dir.ReadDir(-1)
	for _, e := range l.entries {
		l.add(e)
	}
	l.sort()
	return l, missingIsNone(err)
}

// sort orders what has an order, which of thousands of entries is the smaller part.
func (l *listing) sort() {
	slices.SortFunc(l.described, func(a, b described) int { return strings.Compare(a.file, b.file) })
	for _, names := range [][]string{l.pth, l.start, l.custom} {
		slices.Sort(names)
	}
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
