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
func fingerprintOf(lines []recordLine) string { return new(factReader).fingerprint(lines, nil) }

// fingerprint is of the wheel's lines in their order, each with its end. In most RECORDs they stand in that order and side by side, and are taken from the
// text as it is; where the lines do not make up the whole text there is something between them.
func (r *factReader) fingerprint(lines []recordLine, text []byte) string {
	r.own, r.runs = r.own[:0], r.runs[:0]
	end := 0
	for _, l := range lines {
		begin := end
		end += len(l.text) + 1
		if !l.ofWheel() {
			continue
		}
		r.own = append(r.own, l.text)
		if last := len(r.runs) - 1; last >= 0 && r.runs[last].end == begin {
			r.runs[last].end = end
		} else {
			r.runs = append(r.runs, run{begin, end})
		}
	}
	switch {
	case len(r.own) == 0:
		return ""
	case end != len(text) || !slices.IsSorted(r.own):
		text, r.runs = r.inOrder()
	}
	return "record:" + r.sumOf(text)
}

// run is a part of a text.
type run struct{ begin, end int }

// inOrder writes the wheel's lines out.
func (r *factReader) inOrder() ([]byte, []run) {
	slices.Sort(r.own)
	r.text = r.text[:0]
	for _, l := range r.own {
		r.text = append(append(r.text, l...), '\n')
	}
	return r.text, append(r.runs[:0], run{0, len(r.text)})
}

func (r *factReader) sumOf(text []byte) string {
	if r.hash == nil {
		r.hash = sha256.New()
	}
	r.hash.Reset()
	for _, part := range r.runs {
		r.hash.Write(text[part.begin:part.end])
	}
	var sum [sha256.Size]byte
	return hex.EncodeToString(r.hash.Sum(sum[:0])[:16])
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
