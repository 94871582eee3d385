package envs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const pthMost = 1 << 20

// startup reads what Python acts on in a site folder before anything else runs: the folders that .pth files add, and the hooks.
func (l listing) startup(in Interpreter) (added []folder, hooks []Hook) {
	for _, name := range l.pth { // sorted, as Python does
		if strings.HasPrefix(name, ".") && in.atLeast(3, 13) {
			continue
		}
		data := readSome(filepath.Join(l.folder.path, name))
		paths, runs := parsePth(data)
		for _, p := range paths {
			if !filepath.IsAbs(p) {
				p = filepath.Join(l.folder.path, p)
			}
			added = append(added, folder{filepath.Clean(p), l.folder.owner})
		}
		if runs {
			hooks = append(hooks, l.hook(name, HookPth, data))
		}
	}
	for _, name := range l.start {
		hooks = append(hooks, l.hook(name, HookStart, readSome(filepath.Join(l.folder.path, name))))
	}
	return added, append(hooks, l.customHooks()...)
}

func (l listing) customHooks() (hooks []Hook) {
	for _, name := range l.custom {
		p := filepath.Join(l.folder.path, name)
		if _, err := os.Stat(p); err != nil {
			continue // a link to nowhere is no module
		}
		kind := HookSiteCustomize
		if strings.HasPrefix(name, HookUserCustomize) {
			kind = HookUserCustomize
		}
		hooks = append(hooks, l.hook(name, kind, readSome(p)))
	}
	return hooks
}

func (l listing) hook(name, kind string, data []byte) Hook {
	h := Hook{Name: name, Kind: kind, Path: filepath.Join(l.folder.path, name), Owner: l.folder.owner}
	if data != nil {
		sum := sha256.Sum256(data)
		h.SHA256 = hex.EncodeToString(sum[:])
	}
	return h
}

// stdlibHooks looks where distributions put their sitecustomize.py: in the standard library, which even an isolated environment has.
func stdlibHooks(sites []folder, in Interpreter) []Hook {
	if in.Stdlib == "" {
		return nil
	}
	for _, s := range sites {
		if filepath.Clean(s.path) == filepath.Clean(in.Stdlib) {
			return nil
		}
	}
	l := listing{folder: folder{in.Stdlib, OwnerBase}, custom: []string{"sitecustomize.py", "usercustomize.py"}}
	return l.customHooks()
}

// parsePth returns the path lines, and whether any line is executed.
func parsePth(data []byte) (paths []string, runs bool) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		s := strings.TrimRight(string(line), " \t\r\f\v")
		switch {
		case strings.TrimSpace(s) == "" || strings.HasPrefix(s, "#"):
		case strings.HasPrefix(string(line), "import ") || strings.HasPrefix(string(line), "import\t"):
			runs = true
		case !strings.ContainsRune(s, 0):
			paths = append(paths, s)
		}
	}
	return paths, runs
}

// readSome returns nil for what cannot be read and for what is too long to be meant.
func readSome(path string) []byte {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > pthMost {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return data
}

// atLeast compares the first two numbers of the version.
func (i Interpreter) atLeast(major, minor int) bool {
	a, b := versionOf(i.Version)
	return a > major || a == major && b >= minor
}

func versionOf(s string) (major, minor int) {
	first, rest, _ := strings.Cut(s, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, _ = strconv.Atoi(first)
	minor, _ = strconv.Atoi(strings.TrimRightFunc(second, func(r rune) bool { return r < '0' || r > '9' }))
	return major, minor
}
