package envs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// visible is a distribution that a kernel would find, as a resolution has to see it.
type visible struct {
	Package
	stub     string        // Version in a form that tools can compare
	requires []requirement // those that can be read and are no URLs
	extras   []string      // that it says it has; normalised
	pinned   bool          // editable, or installed from a URL: no index may stand in for it
}

// visibles returns what can be planned with, by name.
func (e *Environment) visibles() (map[string]visible, error) {
	list, _, err := e.Packages()
	if err != nil {
		return nil, err
	}
	return readVisibles(list), nil
}

// inherited is what the interpreter has installed, covered or not.
func (e *Environment) inherited() (map[string]visible, error) {
	var sites []folder
	for _, f := range e.sites() {
		if f.owner == OwnerBase {
			sites = append(sites, f)
		}
	}
	list, _, err := readPath(sites, e.Interpreter)
	if err != nil {
		return nil, err
	}
	return readVisibles(list), nil
}

// readVisibles leaves out what has no proper name or cannot be read: a resolver is not told about it, and so nothing moves it.
func readVisibles(list []Package) map[string]visible {
	all := make([]visible, len(list))
	var wg sync.WaitGroup
	for w := range readers {
		wg.Go(func() {
			for i := w; i < len(list); i += readers {
				all[i] = readVisible(list[i])
			}
		})
	}
	wg.Wait()
	byName := make(map[string]visible, len(all))
	for _, v := range all {
		if v.Broken == "" && distName.MatchString(v.Name) {
			byName[v.Name] = v
		}
	}
	return byName
}

func readVisible(p Package) visible {
	v := visible{Package: p, stub: stubVersion(p.Version)}
	var required []string
	if hasSuffixFold(p.Info, ".dist-info") {
		required, v.extras = listedFields(readSome(filepath.Join(p.Info, "METADATA")))
		_, err := os.Lstat(filepath.Join(p.Info, "direct_url.json"))
		v.pinned = err == nil
	} else {
		required, v.extras = readEgg(p.Info)
		v.pinned = p.isDeveloped()
	}
	for _, text := range required {
		if r, err := parseRequirement(text); err == nil {
			v.requires = append(v.requires, r)
		}
	}
	return v
}

// readEgg reads an egg-info file or folder, or an egg that is a folder. A zipped egg says only its name here.
func readEgg(info string) (required, extras []string) {
	if inner := filepath.Join(info, "EGG-INFO"); isDir(inner) {
		info = inner
	}
	description := info
	if isDir(info) {
		description = filepath.Join(info, "PKG-INFO")
	}
	required, extras = listedFields(readSome(description))
	more, others := eggRequires(readSome(filepath.Join(info, "requires.txt")))
	for _, e := range others {
		if !has(extras, e) {
			extras = append(extras, e)
		}
	}
	return append(required, more...), extras
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// isDeveloped: an egg-info folder that stands beside the sources is a development install.
func (p Package) isDeveloped() bool {
	for _, f := range []string{"setup.py", "pyproject.toml"} {
		if _, err := os.Lstat(filepath.Join(p.Folder, f)); err == nil {
			return true
		}
	}
	return false
}

// listedFields returns the fields that a description has many of.
func listedFields(description []byte) (requires, extras []string) {
	for len(description) > 0 {
		var line []byte
		line, description, _ = bytes.Cut(description, []byte("\n"))
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
		key, val, ok := strings.Cut(strings.ToValidUTF8(string(line), "\ufffd"), ":")
		if !ok || line[0] == ' ' || line[0] == '\t' {
			continue
		}
		switch val = strings.TrimSpace(val); strings.ToLower(key) {
		case "requires-dist":
			requires = append(requires, val)
		case "provides-extra":
			if distName.MatchString(val) {
				extras = append(extras, normalName(val))
			}
		}
	}
	return requires, extras
}

// eggRequires reads requires.txt: its sections are "[extra]", "[extra:marker]" and "[:marker]".
func eggRequires(data []byte) (requires, extras []string) {
	extra, mark := "", ""
	for line := range strings.SplitSeq(strings.ToValidUTF8(string(data), "\ufffd"), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			extra, mark, _ = strings.Cut(strings.TrimSuffix(line[1:], "]"), ":")
			if extra = normalName(strings.TrimSpace(extra)); extra != "" && distName.MatchString(extra) && !has(extras, extra) {
				extras = append(extras, extra)
			}
		default:
			requires = append(requires, eggRequirement(line, extra, mark))
		}
	}
	return requires, extras
}

func eggRequirement(line, extra, mark string) string {
	var conditions []string
	if strings.TrimSpace(mark) != "" {
		conditions = append(conditions, "("+mark+")")
	}
	if extra != "" {
		conditions = append(conditions, "extra == '"+extra+"'")
	}
	if len(conditions) == 0 {
		return line
	}
	return line + " ; " + strings.Join(conditions, " and ")
}
