package sandbox

import (
	"os"
	"path/filepath"
)

// bubblewrapPlaces are tried before PATH: a kernel cannot have planted a program there.
var bubblewrapPlaces = []string{"/usr/bin", "/usr/local/bin", "/bin", "/run/wrappers/bin", "/run/current-system/sw/bin"}

// findBubblewrap returns the program's resolved path, or "". A program below a folder that a sandbox may write is
// never taken: a cell could have put it there for the next start.
func findBubblewrap(places []string, search string, writable []string) string {
	for _, dir := range append(append([]string{}, places...), filepath.SplitList(search)...) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, "bwrap")
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if r := resolve(path); !inAny(r, writable) && !inAny(path, writable) {
			return r
		}
	}
	return ""
}

// writableRoots are the resolved folders that p lets a command write.
func writableRoots(p Policy, f Facts) []string {
	var out []string
	add := func(paths ...string) {
		for _, path := range paths {
			if e := f.Paths[path]; path != "" && e.Resolved != "" {
				out = append(out, e.Resolved)
			}
		}
	}
	add(p.Folder, p.KeptHome)
	add(p.Write...)
	for _, t := range p.Writable {
		add(t.Source)
	}
	return out
}

func inAny(path string, roots []string) bool {
	for _, r := range roots {
		if within(path, r) {
			return true
		}
	}
	return false
}
