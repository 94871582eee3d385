package cli

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"time"
)

// demoIndex is a package index with a few packages of one line each, made in memory: the demo installs for real and needs no network for it.
type demoIndex map[string][]byte // file name → wheel

func newDemoIndex() (demoIndex, error) {
	index := demoIndex{}
	for _, p := range []struct{ name, version string }{{"demo_core", "1.0"}, {"demo_core", "2.0"}, {"demo_leaf", "1.0"}} {
		b, err := wheel(p.name, p.version)
		if err != nil {
			return nil, err
		}
		index[fmt.Sprintf("%s-%s-py3-none-any.whl", p.name, p.version)] = b
	}
	return index, nil
}

// wheel builds a pure Python wheel with one module that knows its version.
func wheel(name, version string) ([]byte, error) {
	info := name + "-" + version + ".dist-info/"
	files := []struct{ path, text string }{
		{name + ".py", fmt.Sprintf("version = %q\n", version)},
		{info + "METADATA", fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version)},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: kernel-launch demo\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	}
	var record strings.Builder
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(path, text string) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		return err
	}
	for _, f := range files {
		if err := add(f.path, f.text); err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(f.text))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	if err := add(info+"RECORD", record.String()); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ServeHTTP answers as a simple index does (PEP 503).
func (d demoIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if file, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok && d[file] != nil {
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d[file]))
		return
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/simple/")
	var links []string
	for file, b := range d {
		if ok && strings.HasPrefix(file, strings.ReplaceAll(name, "-", "_")+"-") {
			sum := sha256.Sum256(b)
			links = append(links, fmt.Sprintf("<a href=\"/files/%s#sha256=%s\">%s</a>", file, hex.EncodeToString(sum[:]), file))
		}
	}
	if len(links) == 0 {
		http.NotFound(w, r)
		return
	}
	sort.Strings(links)
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<!DOCTYPE html><html><body>\n%s\n</body></html>\n", strings.Join(links, "<br>\n"))
}
