package envs

import (
	"bytes"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// distFacts is what a snapshot needs of one distribution.
type distFacts struct {
	Package
	fingerprint string
	modules     []string // nil: not known
	namespaces  []string
	files       []string // module files, relative to the folder
	startup     []string // files of it that Python may act on at a start
	starts      bool     // one of them does something: runs code, or adds a folder to the path
	requires    []string
}

// factReader reads one distribution after the other. What it needs on the way is used again: thousands of files make much garbage.
type factReader struct {
	view
	buf   []byte
	lines []recordLine
	own   []string
	runs  []run
	text  []byte
	hash  hash.Hash
}

func (r *factReader) read(d described) distFacts {
	description, err := d.description(r.buf)
	r.buf = description
	f := distFacts{Package: d.readFrom(parseHeaderOr(description, err))}
	if description == nil {
		f.Package = d.read() // an egg in one file, or something whose fault has to be told
	}
	f.requires = requiresOf(description)
	if d.isDistInfo() {
		if text, err := slurp(f.Info+in("RECORD"), recordMost, nil, r.text); err == nil {
			r.text = text
			r.lines = appendRecord(r.lines[:0], string(text))
			f.fingerprint = r.fingerprint(r.lines, text)
			f.fromRecord(r.lines, d.file, r.suffixes)
			f.starts = actsAtStart(d.folder.path, f.startup)
		}
	}
	if f.modules == nil {
		f.modules = topLevel(d, f.Name)
	}
	if f.fingerprint == "" {
		f.fingerprint = fingerprintByTimes(description, d.folder.path, f.modules)
	}
	return f
}

// description is the head of the file that describes the distribution.
func (d described) description(buf []byte) (data []byte, err error) {
	err = fs.ErrNotExist
	for _, p := range d.metadataFiles() {
		if data, err = slurp(p, headMost, headIsWhole, buf); err == nil {
			return data, nil
		}
	}
	return nil, err
}

// headIsWhole: what follows the first blank line is a text for people.
func headIsWhole(data []byte) bool {
	return bytes.Contains(data, []byte("\n\n")) || bytes.Contains(data, []byte("\n\r\n"))
}

func parseHeaderOr(data []byte, err error) (map[string]string, error) {
	if err != nil {
		return nil, err
	}
	head, _ := parseHeader(data, []string{"name", "version"}, true)
	return head, nil
}

// requiresOf returns the Requires-Dist lines of a description's header.
func requiresOf(description []byte) (list []string) {
	const key = "requires-dist:"
	for len(description) > 0 {
		var line []byte
		line, description, _ = bytes.Cut(description, []byte("\n"))
		if len(bytes.TrimSpace(line)) == 0 {
			return list
		}
		if len(line) > len(key) && (line[0] == 'R' || line[0] == 'r') && bytes.EqualFold(line[:len(key)], []byte(key)) {
			list = append(list, strings.ToValidUTF8(string(bytes.TrimSpace(line[len(key):])), "\ufffd"))
		}
	}
	return list
}

// fromRecord sorts the files of a distribution by what Python does with them.
func (f *distFacts) fromRecord(lines []recordLine, info string, suffixes []string) {
	f.files = make([]string, 0, len(lines))
	for _, l := range lines {
		if strings.HasPrefix(l.path, "../") || strings.HasPrefix(l.path, "/") || l.path == "" {
			continue
		}
		first, rest, deeper := firstOf(l.path)
		switch {
		case deeper && (first == info || first == "__pycache__"):
		case isBytecode(l.path) && strings.Contains(rest, "__pycache__/"):
		case !deeper && startsSomething(first):
			f.startup = append(f.startup, first)
			f.files = append(f.files, l.path)
		default:
			f.files = append(f.files, l.path)
		}
	}
	f.modules, f.namespaces = modulesOf(f.files, suffixes)
}

// firstOf cuts a path behind its first name. There are thousands of them: strings.Cut takes twice as long for one character.
func firstOf(path string) (first, rest string, deeper bool) {
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:], true
	}
	return path, "", false
}

func startsSomething(file string) bool {
	return strings.HasSuffix(file, ".pth") || strings.HasSuffix(file, ".start") || file == "sitecustomize.py" || file == "usercustomize.py"
}

func actsAtStart(dir string, startup []string) bool {
	for _, file := range startup {
		if !strings.HasSuffix(file, ".pth") {
			return true
		}
		if paths, runs := parsePth(readSome(filepath.Join(dir, file))); runs || len(paths) > 0 {
			return true
		}
	}
	return false
}

// topLevel asks the description of an egg; without one, the module of the distribution's own name if there is such a thing. nil: not known.
func topLevel(d described, name string) []string {
	if d.isDir {
		file := filepath.Join(d.path(), "top_level.txt")
		if d.file == "" {
			file = filepath.Join(d.path(), "EGG-INFO", "top_level.txt")
		}
		if data := readSome(file); data != nil {
			list := []string{}
			for m := range strings.FieldsSeq(strings.ToValidUTF8(string(data), "\ufffd")) {
				list = append(list, strings.Trim(slashed(m), "/"))
			}
			return list
		}
	}
	module := strings.ReplaceAll(name, "-", "_")
	for _, p := range []string{module + ".py", filepath.Join(module, "__init__.py")} {
		if fi, err := os.Stat(filepath.Join(d.folder.path, p)); err == nil && fi.Mode().IsRegular() {
			return []string{module}
		}
	}
	return nil
}
