package envs

import (
	"archive/zip"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// stub is a wheel that stands for something that is there.
type stub struct {
	name, version string
	stem          string // of its files' names
	metadata      string
}

// buildNumber is higher than that of any wheel on an index.
const buildNumber = "999999999"

func (v scenery) stubOf(name string) stub {
	p := v.packages[name]
	var b strings.Builder
	fmt.Fprintf(&b, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, p.stub)
	for _, e := range p.extras {
		fmt.Fprintf(&b, "Provides-Extra: %s\n", e)
	}
	for _, r := range v.requiresOf(p) {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", r)
	}
	return stub{name, p.stub, strings.ReplaceAll(name, "-", "_") + "-" + p.stub, b.String()}
}

// named is the file that constraints name. Its tag fits everywhere.
func (s stub) named(dir string) string { return filepath.Join(dir, s.stem+"-py3-none-any.whl") }

// searched is the file that is found among those of an index, and that none of them can beat.
func (s stub) searched(dir, tag string) string {
	return filepath.Join(dir, s.stem+"-"+buildNumber+"-"+tag+".whl")
}

// write makes the wheel: the same bytes for the same content.
func (s stub) write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	err = s.fill(z)
	for _, end := range []func() error{z.Close, f.Close} {
		if e := end(); err == nil {
			err = e
		}
	}
	return err
}

func (s stub) fill(z *zip.Writer) error {
	for _, part := range [][2]string{
		{"METADATA", s.metadata},
		{"WHEEL", "Wheel-Version: 1.0\nGenerator: kernel-launch\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"RECORD", ""},
	} {
		data := []byte(part[1])
		n := uint64(len(data))
		// Lengths and sum stand in front: readers that do not seek refuse what is stored without them.
		w, err := z.CreateRaw(&zip.FileHeader{Name: s.stem + ".dist-info/" + part[0], Method: zip.Store, CRC32: crc32.ChecksumIEEE(data), CompressedSize64: n, UncompressedSize64: n})
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// constraint pins the name to the file.
func (s stub) constraint(dir string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(s.named(dir))}
	return s.name + " @ " + u.String() + "\n"
}
