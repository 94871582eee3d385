package envs

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// moduleSuffixes are the ends of files that are modules, the longest first: of "x.abi3.so" the module is x.
func moduleSuffixes(extensions []string) []string {
	list := append([]string{".py", ".pyc", ".so", ".pyd"}, extensions...)
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(list)
}

// moduleName returns the module that a file is; false when Python would not import it.
func moduleName(file string, suffixes []string) (string, bool) {
	for _, s := range suffixes {
		if name, ok := strings.CutSuffix(file, s); ok {
			return name, isIdentifier(name)
		}
	}
	return "", false
}

func isIdentifier(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// modulesOf finds the top modules among files. A folder without __init__ is a namespace that others may have a part of: its modules count in its place,
// as "google/protobuf".
func modulesOf(files, suffixes []string) (modules, namespaces []string) {
	if !slices.IsSorted(files) {
		files = slices.Sorted(slices.Values(files))
	}
	modules = []string{}
	collectModules("", files, suffixes, &modules, &namespaces)
	slices.Sort(modules)
	slices.Sort(namespaces)
	return slices.Compact(modules), slices.Compact(namespaces)
}

// deepest is how many folders a namespace goes down; a RECORD may claim thousands. What lies deeper counts as one module.
const deepest = 64

// collectModules looks at one folder; files are sorted and begin with prefix.
func collectModules(prefix string, files, suffixes []string, modules, namespaces *[]string) {
	for i := 0; i < len(files); {
		name, _, deeper := cutByte(files[i][len(prefix):], '/')
		if !deeper {
			if m, ok := moduleName(name, suffixes); ok {
				*modules = append(*modules, prefix+m)
			}
			i++
			continue
		}
		end := i + 1
		folder := files[i][:len(prefix)+len(name)+1]
		for end < len(files) && strings.HasPrefix(files[end], folder) {
			end++
		}
		collectFolder(folder, files[i:end], suffixes, modules, namespaces)
		i = end
	}
}

func collectFolder(folder string, files, suffixes []string, modules, namespaces *[]string) {
	name := folder[:len(folder)-1]
	if !isIdentifier(name[strings.LastIndexByte(name, '/')+1:]) {
		return
	}
	regular := func(file string) bool { return isInit(file[len(folder):]) }
	if strings.Count(folder, "/") > deepest || slices.ContainsFunc(files, regular) {
		*modules = append(*modules, name)
		return
	}
	before := len(*modules)
	collectModules(folder, files, suffixes, modules, namespaces)
	if len(*modules) > before {
		*namespaces = append(*namespaces, name)
	}
}

// orphans are the top modules in the environment's own folders that no distribution there has: what a half install or a hand left.
func (v view) orphans(sites []folder, facts []distFacts, names map[string][]fs.DirEntry) []string {
	list := []string{}
	for _, site := range sites {
		if site.owner != OwnerEnv {
			continue
		}
		owned := make(map[string]bool, len(facts))
		for i := range facts {
			f := &facts[i]
			if f.Folder != site.path {
				continue
			}
			for _, m := range f.modules {
				first, _, _ := strings.Cut(m, "/")
				owned[first] = true
			}
		}
		list = append(list, v.unowned(site.path, names[site.path], owned)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (v view) unowned(dir string, entries []fs.DirEntry, owned map[string]bool) (list []string) {
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || isLinkToDir(dir, entry) {
			if !owned[name] && isIdentifier(name) && name != "__pycache__" && holdsModule(filepath.Join(dir, name), v.suffixes) {
				list = append(list, name)
			}
			continue
		}
		if m, ok := moduleName(name, v.suffixes); ok && !owned[m] {
			list = append(list, m)
		}
	}
	return list
}

func holdsModule(dir string, suffixes []string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if _, ok := moduleName(entry.Name(), suffixes); ok || entry.IsDir() && entry.Name() != "__pycache__" {
			return true
		}
	}
	return false
}

func isInit(file string) bool {
	suffix, ok := strings.CutPrefix(file, "__init__.")
	return ok && strings.IndexByte(suffix, '/') < 0
}
