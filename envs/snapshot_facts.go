package envs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"
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
	at         openFolder
	head, text []byte
	content    content
	paths      []string
}

func (r *factReader) read(d described) distFacts {
	description, err := r.slurp(d, d.metadataFile(), headMost, headIsWhole, &r.head)
	f := distFacts{Package: d.readFrom(parseHeaderOr(description, err))}
	if description == nil {
		f.Package = d.read() // an egg in one file, or something whose fault has to be told
	}
	f.requires = requiresOf(description)
	if d.isDistInfo() {
		// An empty RECORD is what a crash left of one: it does not say that there are no modules.
		if text, err := r.slurp(d, d.file+in("RECORD"), recordMost, nil, &r.text); err == nil && len(bytes.TrimSpace(text)) > 0 {
			r.record(&f, d.file, text)
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

// slurp reads a file of the folder that a description stands in. The result lies in buf until the next one.
func (r *factReader) slurp(d described, name string, most int, enough func([]byte) bool, buf *[]byte) (data []byte, err error) {
	if name == "" {
		return nil, fs.ErrNotExist
	}
	if r.at.path != d.folder.path {
		r.leave()
		if r.at, err = enterFolder(d.folder.path); err != nil {
			return nil, err
		}
	}
	data, err = r.at.slurp(name, most, enough, *buf)
	if err == nil {
		*buf = data
	}
	return data, err
}

func (r *factReader) leave() {
	if r.at.path != "" {
		r.at.leave()
		r.at = openFolder{}
	}
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

// record sorts the files of a distribution by what Python does with them, and sums up those of its wheel.
func (r *factReader) record(f *distFacts, info string, data []byte) {
	text := unsafe.String(unsafe.SliceData(data), len(data))
	r.content.reset()
	r.paths = r.paths[:0]
	for l := range recordLines(text) {
		if l.ofWheel() {
			r.content.add(l.text)
		}
		if !l.isModules(info) {
			continue
		}
		r.paths = append(r.paths, l.path)
		if l.top < 0 && startsSomething(l.path) {
			f.startup = append(f.startup, strings.Clone(l.path))
		}
	}
	if f.fingerprint = r.content.fingerprint(); !r.content.ordered {
		f.fingerprint = r.content.inOrder(text)
	}
	f.files = cloned(r.paths)
	f.starts = actsAtStart(f.Folder, f.startup)
	f.modules, f.namespaces = modulesOf(f.files, r.suffixes)
}

// isModules says whether a file belongs to what can be imported.
func (l recordLine) isModules(info string) bool {
	if l.path == "" || leadsAway(l.path) {
		return false
	}
	if l.top < 0 {
		return true
	}
	first := l.path[:l.top]
	return first != info && first != "__pycache__" && (!isBytecode(l.path) || !strings.Contains(l.path[l.top+1:], "__pycache__/"))
}

// cloned copies texts out of what they lie in, side by side.
func cloned(list []string) []string {
	size := 0
	for _, s := range list {
		size += len(s)
	}
	var all strings.Builder
	all.Grow(size)
	for _, s := range list {
		all.WriteString(s)
	}
	block, own := all.String(), make([]string, len(list))
	for i, s := range list {
		own[i], block = block[:len(s)], block[len(s):]
	}
	return own
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
