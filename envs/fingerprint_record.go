package envs

import (
	"encoding/csv"
	"strings"
)

// recordMost is more than the longest RECORD that was seen (100,000 files) has.
const recordMost = 64 << 20

// recordLine is one file that a distribution says it has.
type recordLine struct {
	path string // relative to the folder that the description stands in, with slashes
	hash string // "sha256=…", empty for files that change
	size string
	text string // the whole line
}

// readRecord returns nothing for a RECORD that is not there or cannot be meant. Its text is read once: lines share its memory.
func readRecord(file string) []recordLine {
	data, err := slurp(file, recordMost, nil, nil)
	if err != nil {
		return nil
	}
	return parseRecord(string(data))
}

func parseRecord(text string) []recordLine {
	return appendRecord(make([]recordLine, 0, strings.Count(text, "\n")+1), text)
}

func appendRecord(lines []recordLine, text string) []recordLine {
	if strings.IndexByte(text, '"') < 0 && strings.IndexByte(text, '\\') < 0 && strings.IndexByte(text, '\r') < 0 {
		return appendPlain(lines, text)
	}
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		if strings.IndexByte(line, '"') >= 0 {
			line, text = wholeQuoted(line, text)
			lines = append(lines, parseQuoted(line))
			continue
		}
		r := recordLine{text: line}
		r.path, r.hash, _ = strings.Cut(line, ",")
		r.hash, r.size, _ = strings.Cut(r.hash, ",")
		r.path = slashed(r.path)
		lines = append(lines, r)
	}
	return lines
}

// appendPlain is for a text without what needs a second look, as nearly all are.
func appendPlain(lines []recordLine, text string) []recordLine {
	for text != "" {
		line := text
		if end := strings.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = ""
		}
		if line == "" {
			continue
		}
		r := recordLine{text: line, path: line}
		if at := strings.IndexByte(line, ','); at >= 0 {
			r.path, r.hash = line[:at], line[at+1:]
		}
		if at := strings.IndexByte(r.hash, ','); at >= 0 {
			r.hash, r.size = r.hash[:at], r.hash[at+1:]
		}
		lines = append(lines, r)
	}
	return lines
}

// wholeQuoted: a quoted name may hold a line's end.
func wholeQuoted(line, rest string) (string, string) {
	for strings.Count(line, `"`)%2 != 0 && rest != "" {
		var next string
		next, rest, _ = strings.Cut(rest, "\n")
		line += "\n" + next
	}
	return line, rest
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
	fields = append(fields, "", "")
	r.path, r.hash, r.size = slashed(fields[0]), fields[1], fields[2]
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
func (r recordLine) ofWheel() bool {
	if strings.HasPrefix(r.path, "../") || strings.HasPrefix(r.path, "/") || isBytecode(r.path) {
		return false
	}
	first, base, deeper := firstOf(r.path)
	return !deeper || !installerMade(base) || !strings.HasSuffix(first, ".dist-info")
}

func isBytecode(p string) bool { return strings.HasSuffix(p, ".pyc") || strings.HasSuffix(p, ".pyo") }
