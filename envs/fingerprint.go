package envs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// content sums up what a distribution is, the same for whoever installed it: the lines of its RECORD that are of the wheel, in their order.
type content struct {
	hash hash.Hash
	text []byte // lines, each with its end, that hash has not had
	last string
	// ordered: every installer that was seen writes the lines in their order, so that they need not be kept to be sorted.
	ordered bool
}

const contentPart = 16 << 10

func (c *content) reset() {
	if c.hash == nil {
		c.hash = sha256.New()
		c.text = make([]byte, 0, contentPart)
	}
	c.hash.Reset()
	c.text, c.last, c.ordered = c.text[:0], "", true
}

func (c *content) add(line string) {
	c.ordered = c.ordered && c.last <= line
	c.last = line
	if len(c.text)+len(line) >= contentPart {
		c.hash.Write(c.text)
		c.text = c.text[:0]
	}
	c.text = append(append(c.text, line...), '\n')
}

// fingerprint is empty without a line.
func (c *content) fingerprint() string {
	if c.last == "" {
		return ""
	}
	c.hash.Write(c.text)
	var sum [sha256.Size]byte
	return "record:" + hex.EncodeToString(c.hash.Sum(sum[:0])[:16])
}

// inOrder sums up a RECORD whose lines are not in their order.
func (c *content) inOrder(record string) string {
	var lines []string
	for l := range recordLines(record) {
		if l.ofWheel() {
			lines = append(lines, l.text)
		}
	}
	slices.Sort(lines)
	c.reset()
	for _, line := range lines {
		c.add(line)
	}
	return c.fingerprint()
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
