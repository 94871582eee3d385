package envs

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// locked is one distribution of a resolution.
type locked struct {
	name, version string
	wheels        []lockedFile // those that the interpreter can use
	sdist         lockedFile   // zero: none
	local         bool         // it comes from a file of ours: what is visible stays
}

// lockedFile is a file that an index offers.
type lockedFile struct {
	url, filename, sha256, uploaded string
	size                            int64
}

// parsePylock reads the packages of a lock file (PEP 751) as uv writes it. Files that are not at the index are left out; what has no other is local.
func parsePylock(text, index string) ([]locked, error) {
	doc, err := parseTOML(text)
	if err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	if v, _ := doc["lock-version"].(string); !strings.HasPrefix(v, "1.") {
		return nil, fmt.Errorf("lock file: its version is %q, not 1.x", v)
	}
	tables, _ := doc["packages"].([]any)
	list := make([]locked, 0, len(tables))
	for _, t := range tables {
		table, _ := t.(map[string]any)
		l, err := parseLocked(table, index)
		if err != nil {
			return nil, fmt.Errorf("lock file: %w", err)
		}
		list = append(list, l)
	}
	return list, nil
}

func parseLocked(table map[string]any, index string) (locked, error) {
	name, _ := table["name"].(string)
	version, _ := table["version"].(string)
	if !distName.MatchString(name) {
		return locked{}, fmt.Errorf("%q names no package", value(name))
	}
	l := locked{name: normalName(name), version: version}
	wheels, _ := table["wheels"].([]any)
	for _, w := range wheels {
		if f, ok := parseLockedFile(w, index); ok {
			l.wheels = append(l.wheels, f)
		}
	}
	l.sdist, _ = parseLockedFile(table["sdist"], index)
	l.local = len(l.wheels) == 0 && l.sdist.url == ""
	if l.local && table["archive"] == nil && len(wheels) == 0 {
		return l, errors.New(l.name + " has no file")
	}
	return l, nil
}

func parseLockedFile(v any, index string) (lockedFile, bool) {
	table, _ := v.(map[string]any)
	var f lockedFile
	f.url, _ = table["url"].(string)
	u, err := url.Parse(f.url)
	if err != nil || !strings.HasPrefix(f.url, index+"/files/") {
		return lockedFile{}, false
	}
	hashes, _ := table["hashes"].(map[string]any)
	f.sha256, _ = hashes["sha256"].(string)
	f.size, _ = table["size"].(int64)
	f.uploaded, _ = table["upload-time"].(string)
	f.filename, err = url.PathUnescape(path.Base(u.EscapedPath()))
	return f, err == nil && goodFilename(f.filename) && (f.sha256 == "" || len(f.sha256) == 64 && isHash("sha256", f.sha256))
}
