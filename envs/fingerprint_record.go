package envs

import (
	"encoding/csv"
	"iter"
	"slices"
	"strings"
)

// recordMost is more than the longest RECORD that was seen (100,000 files) has.
const recordMost = 64 << 20

// recordLine is one file that a distribution says it has.
type recordLine struct {
	path string // relative to the folder that the description stands in, with slashes
	rest string // what stands behind it: hash and size
	text string // the whole line
	top  int    // the length of the path's first name; negative when it has one alone
}

// sum is "sha256=…", empty for files that change.
func (l recordLine) sum() string {
	sum, _, _ := cutByte(l.rest, ',')
	return sum
}

func (l recordLine) size() string {
	_, size, _ := cutByte(l.rest, ',')
	return size
}

// readRecord returns nothing for a RECORD that is not there or cannot be meant. Its text is read once: lines share its memory.
func readRecord(file string) []recordLine {
	data, err := atLarge.slurp(file, recordMost, nil, nil)
	if err != nil {
		return nil
	}
	return slices.AppendSeq([]recordLine{}, recordLines(string(data)))
}

// recordLines are the lines of a RECORD, which ends its lines as pip does (CRLF) or as uv does. What needs a second look, a quoted name or the
// separator of Windows, hardly any has: the whole text is searched for it once, and not each line.
func recordLines(text string) iter.Seq[recordLine] {
	quoted, windows := strings.IndexByte(text, '"') >= 0, strings.IndexByte(text, '\\') >= 0
	return func(yield func(recordLine) bool) {
		for text := text; text != ""; {
			line, rest, _ := cutByte(text, '\n')
			line = strings.TrimSuffix(line, "\r")
			l := recordLine{text: line}
			if quoted && strings.IndexByte(line, '"') >= 0 {
				line, rest = wholeQuoted(text)
				l = parseQuoted(line)
			} else {
				l.path, l.rest, _ = cutByte(line, ',')
			}
			if windows {
				l.path = slashed(l.path)
			}
			l.top = strings.IndexByte(l.path, '/')
			if text = rest; line != "" && !yield(l) {
				return
			}
		}
	}
}

// cutByte is strings.Cut for one character, in half the time: a snapshot cuts hundreds of thousands of lines.
func cutByte(s string, c byte) (before, after string, found bool) {
	if i := strings.IndexByte(s, c); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// wholeQuoted cuts a text behind the line that it begins with: a quoted name may hold a line's end.
func wholeQuoted(text string) (line, rest string) {
	open := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			open = !open
		case text[i] == '\n' && !open:
			return strings.TrimSuffix(text[:i], "\r"), text[i+1:]
		}
	}
	return text, ""
}

func parseQuoted(line string) recordLine {
	r := recordLine{text: line}
	c := csv.NewReader(strings.NewReader(line))
	c.LazyQuotes, c.FieldsPerRecord = true, -1
	fields, err := c.Read()
	if err != nil || len(fields) == 0 {
		r.path = line
		return r
	}
	r.path, r.rest = fields[0], strings.Join(fields[1:min(len(fields), 3)], ",")
	return r
}

// slashed: a RECORD that was written on Windows may have its separator, which no module's name contains.
func slashed(p string) string {
	if strings.IndexByte(p, '\\') < 0 {
		return p
	}
	return strings.ReplaceAll(p, `\`, "/")
}

// installerMade are the files in a description that an installer writes.
func installerMade(base string) bool {
	switch base {
	case "INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json":
		return true
	}
	return false
}

// ofWheel says whether the line stands in the wheel as well, whoever installed it: no script, no bytecode, nothing that an installer adds.
func (l recordLine) ofWheel() bool {
	if leadsAway(l.path) || isBytecode(l.path) {
		return false
	}
	return l.top < 0 || !installerMade(l.path[l.top+1:]) || !strings.HasSuffix(l.path[:l.top], ".dist-info")
}

// leadsAway says that a path leads out of the folder that it is relative to.
func leadsAway(p string) bool { return strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") }

func isBytecode(p string) bool { return strings.HasSuffix(p, ".pyc") || strings.HasSuffix(p, ".pyo") }
