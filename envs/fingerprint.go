package envs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fingerprintOf names the content of a distribution, the same for whoever installed it: what the wheel's own files are.
func fingerprintOf(lines []recordLine) string { return new(factReader).fingerprint(lines) }

func (r *factReader) fingerprint(lines []recordLine) string {
	r.own, r.text = r.own[:0], r.text[:0]
	for _, l := range lines {
		if l.ofWheel() {
			r.own = append(r.own, l.text)
		}
	}
	if len(r.own) == 0 {
		return ""
	}
	if !slices.IsSorted(r.own) {
		slices.Sort(r.own)
	}
	for _, l := range r.own {
		r.text = append(append(r.text, l...), '\n')
	}
	sum := sha256.Sum256(r.text)
	return "record:" + hex.EncodeToString(sum[:16])
}

// fingerprintByTimes is for distributions without RECORD: their description, and size and time of their top modules. An upgrade by the system's
// package manager changes it.
func fingerprintByTimes(description []byte, dir string, modules []string) string {
	h := sha256.New()
	h.Write(description)
	for _, m := range modules {
		for _, p := range []string{m, m + ".py", filepath.Join(m, "__init__.py")} {
			if fi, err := os.Stat(filepath.Join(dir, p)); err == nil {
				fmt.Fprintf(h, "\n%s %d %d", p, fi.Size(), fi.ModTime().UnixNano())
			}
		}
	}
	return "times:" + hex.EncodeToString(h.Sum(nil)[:16])
}

// fingerprintR: a rebuild of the same version has another Built or Packaged, an installation from a repository of source code another RemoteSha.
func fingerprintR(head map[string]string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{head["built"], head["packaged"], head["remotesha"]}, "\n")))
	return "built:" + hex.EncodeToString(sum[:16])
}
