package envs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const anyTag = "py3-none-any"

// bestTag is the wheel tag that an interpreter prefers to all others. glibc is the minor version of the C library, 0 for another one.
func (i Interpreter) bestTag(glibc int) string {
	platforms := platformTags(i.Platform, glibc)
	if i.Implementation != "cpython" || platforms == "" {
		return anyTag
	}
	major, minor := versionOf(i.Version)
	python := fmt.Sprintf("cp%d%d", major, minor)
	abi := python
	if strings.Contains(i.ABIFlags, "t") {
		abi += "t"
	}
	return python + "-" + abi + "-" + platforms
}

// platformTags: which release of macOS or musl runs here is not known, so all of them are named; the one that fits best counts.
func platformTags(platform string, glibc int) string {
	machine := platform[strings.LastIndexByte(platform, '-')+1:]
	var tags []string
	switch {
	case strings.HasPrefix(platform, "win"):
		return strings.NewReplacer("-", "_", ".", "_").Replace(platform)
	case strings.HasPrefix(platform, "macosx"):
		for _, release := range []int{11, 12, 13, 14, 15, 26, 27} {
			tags = append(tags, fmt.Sprintf("macosx_%d_0_%s", release, machine))
		}
	case strings.HasPrefix(platform, "linux") && glibc > 0:
		tags = append(tags, fmt.Sprintf("manylinux_2_%d_%s", glibc, machine))
	case strings.HasPrefix(platform, "linux"):
		for release := range 4 {
			tags = append(tags, fmt.Sprintf("musllinux_1_%d_%s", release+1, machine))
		}
	}
	return strings.Join(tags, ".")
}

// glibcMinor reads the version from the C library's own symbols: the highest GLIBC_2.N that it defines. 0: there is no glibc.
func glibcMinor() (most int) {
	for _, pattern := range []string{"/lib/*-linux-gnu*/libc.so.6", "/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			continue
		}
		if data, err := os.ReadFile(found[0]); err == nil {
			return symbolMinor(data)
		}
	}
	return 0
}

func symbolMinor(library []byte) (most int) {
	mark := []byte("\x00GLIBC_2.")
	for {
		at := bytes.Index(library, mark)
		if at < 0 {
			return most
		}
		library = library[at+len(mark):]
		most = max(most, leadingNumber(string(library[:min(4, len(library))])))
	}
}
