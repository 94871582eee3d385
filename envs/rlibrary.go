package envs

import (
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// readLibraries returns R's packages, the first library wins. What has no DESCRIPTION or no Meta/package.rds is no installed package: a killed
// install leaves such folders.
func readLibraries(libraries []folder) ([]Package, error) {
	var errs []error
	var all []Package
	taken := map[string]bool{}
	for _, l := range libraries {
		entries, err := os.ReadDir(l.path)
		if missingIsNone(err) != nil {
			errs = append(errs, err)
		}
		for _, e := range entries {
			if taken[e.Name()] || strings.HasPrefix(e.Name(), "00LOCK") {
				continue
			}
			if p, ok := readRPackage(l, e.Name()); ok {
				taken[p.Name] = true
				all = append(all, p)
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, errors.Join(errs...)
}

// readRPackage: R finds a package by its folder's name.
func readRPackage(l folder, name string) (Package, bool) {
	dir := filepath.Join(l.path, name)
	head, err := readHeader(filepath.Join(dir, "DESCRIPTION"), "package", "version", "built")
	if err != nil {
		return Package{}, false
	}
	if fi, err := os.Stat(filepath.Join(dir, "Meta", "package.rds")); err != nil || !fi.Mode().IsRegular() {
		return Package{}, false
	}
	p := Package{Name: name, Version: head["version"], Built: head["built"], Owner: l.owner, Folder: l.path, Info: filepath.Join(dir, "DESCRIPTION")}
	switch {
	case head["package"] != name:
		p.Broken = "its DESCRIPTION names another package"
	case p.Version == "":
		p.Broken = "its DESCRIPTION has no version"
	case p.Built == "":
		p.Broken = "its DESCRIPTION has no Built field"
	}
	return p, true
}
