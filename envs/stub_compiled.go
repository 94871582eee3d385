package envs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// arrayAPI stands in every extension module that was compiled against numpy, as the name of what it imports from there.
var arrayAPI = []byte("_ARRAY_API")

var numpyBefore2 = requirement{text: "numpy<2", name: "numpy", specs: specifiers{{op: "<", text: "2", version: pyVersion{epoch: "0", release: []string{"2"}}}}}

const extensionMost = 256 << 20

// compiledAgainst1 returns the names that were compiled against the numpy that is there, when that is one before 2. Metadata does not tell: wheels do
// not repeat what they were built with, and distributions leave it out.
func compiledAgainst1(packages map[string]visible, suffixes []string) (found []string) {
	numpy, ok := packages["numpy"]
	if !ok || !numpyBefore2.specs.allow(numpy.stub) {
		return nil
	}
	names := scenery{packages: packages}.names()
	hit := make([]bool, len(names))
	var wg sync.WaitGroup
	for w := range readers {
		wg.Go(func() {
			for i := w; i < len(names); i += readers {
				hit[i] = names[i] != "numpy" && usesArrayAPI(packages[names[i]].Package, suffixes)
			}
		})
	}
	wg.Wait()
	for i, n := range names {
		if hit[i] {
			found = append(found, n)
		}
	}
	return found
}

func usesArrayAPI(p Package, suffixes []string) bool {
	return slices.ContainsFunc(extensionsOf(p, suffixes), func(f string) bool {
		fi, err := os.Stat(f)
		if err != nil || !fi.Mode().IsRegular() || fi.Size() > extensionMost {
			return false
		}
		data, err := os.ReadFile(f)
		return err == nil && bytes.Contains(data, arrayAPI)
	})
}

// extensionsOf lists the extension modules of a distribution: by its RECORD, or by the modules that an egg says are its own.
func extensionsOf(p Package, suffixes []string) (list []string) {
	isExtension := func(path string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) })
	}
	if hasSuffixFold(p.Info, ".dist-info") {
		for _, l := range readRecord(filepath.Join(p.Info, "RECORD")) {
			if f := filepath.FromSlash(l.path); isExtension(f) && filepath.IsLocal(f) {
				list = append(list, filepath.Join(p.Folder, f))
			}
		}
		return list
	}
	for _, top := range eggModules(p) {
		_ = filepath.WalkDir(filepath.Join(p.Folder, top), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && isExtension(path) {
				list = append(list, path)
			}
			return nil // what cannot be read is no extension that could be loaded
		})
	}
	return list
}

func eggModules(p Package) (list []string) {
	data := readSome(filepath.Join(p.Info, "top_level.txt"))
	if data == nil {
		return []string{strings.ReplaceAll(p.Name, "-", "_")}
	}
	for m := range strings.FieldsSeq(string(data)) {
		if m = filepath.FromSlash(m); filepath.IsLocal(m) {
			list = append(list, m)
		}
	}
	return list
}
