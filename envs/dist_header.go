package envs

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

const (
	headFirst = 2 << 10 // Name and Version stand on top: nearly every file is answered by this much
	headMost  = 1 << 20
	valueMost = 256 // bytes of a value that are kept
)

// readHeader returns the values of the wanted keys (lower case) in the header of an email-like file: METADATA, PKG-INFO, DESCRIPTION.
// It never fails on what it reads: bytes that are no UTF-8 come back as escapes.
func readHeader(path string, wanted ...string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return headerFrom(f, wanted)
}

func headerFrom(r io.Reader, wanted []string) (map[string]string, error) {
	buf := make([]byte, headFirst)
	n, err := io.ReadFull(r, buf)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	found, whole := parseHeader(buf[:n], wanted, err != nil)
	if whole {
		return found, nil
	}
	rest, err := io.ReadAll(io.LimitReader(r, headMost-headFirst))
	if err != nil {
		return nil, err
	}
	found, _ = parseHeader(append(buf[:n], rest...), wanted, true)
	return found, nil
}

// parseHeader stops at the first blank line. whole is false when data ends before all keys were seen and more may follow.
func parseHeader(data []byte, wanted []string, last bool) (found map[string]string, whole bool) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	found = make(map[string]string, len(wanted))
	key := ""
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if !ended && !last {
			return found, false
		}
		data = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.TrimSpace(line)) == 0 {
			return found, true
		}
		if line[0] == ' ' || line[0] == '\t' {
			if key != "" {
				found[key] = value(found[key] + " " + string(bytes.TrimSpace(line)))
			}
			continue
		}
		if len(found) == len(wanted) {
			return found, true
		}
		key = keep(found, line, wanted)
	}
	return found, last
}

// keep stores a wanted line's value, the first of its key, and returns the key that continuation lines belong to.
func keep(found map[string]string, line []byte, wanted []string) string {
	k, v, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return ""
	}
	k = bytes.TrimSpace(k)
	for _, w := range wanted {
		if !isKey(k, w) {
			continue
		}
		if _, seen := found[w]; !seen {
			found[w] = value(string(v))
			return w
		}
	}
	return ""
}

// isKey compares a key with one in lower case. Of the same length they are of the same letters: those beyond ASCII are longer.
func isKey(k []byte, key string) bool { return len(k) == len(key) && bytes.EqualFold(k, []byte(key)) }

func value(s string) string {
	if t := strings.TrimSpace(s); len(t) <= valueMost && isPrintable(t) {
		return t
	}
	return plain.Line(s, valueMost)
}

// isPrintable spares plain.Line for what nearly all values are.
func isPrintable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' || s[i] == '\\' {
			return false
		}
	}
	return true
}
