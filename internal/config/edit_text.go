package config

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

var (
	errForm    = errors.New("its form is not one that can be edited without changing what it says; edit it by hand")
	errComment = errors.New("a comment would be lost; edit it by hand")
)

// render writes the changed document. The YAML library keeps comments, order and quotes, but not empty lines, indentation and columns: so only the
// lines that the change makes are taken from it, and all others stay as they were. Where that does not come out as meant, all of it is the library's.
func (d *draft) render() ([]byte, error) {
	after, err := encode(d.doc, indentation(d.before))
	if err != nil {
		return nil, err
	}
	if text := d.carry(after); d.says(text) && d.keeps(text) {
		return text, nil
	}
	whole := []byte(strings.ReplaceAll(string(after), "\n", lineEnd(d.before)))
	switch {
	case !d.says(whole):
		return nil, errForm
	case !d.keeps(whole):
		return nil, errComment
	}
	return whole, nil
}

func encode(doc *yaml.Node, indent int) ([]byte, error) {
	if len(doc.Content[0].Content) == 0 {
		return nil, nil // it was nothing but comments, which the library drops
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(indent)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// carry puts the lines in which the library's forms of before and after differ into the text of before.
func (d *draft) carry(after []byte) []byte {
	old, err := decode(d.before)
	if err != nil {
		return nil
	}
	form, err := encode(old, indentation(d.before))
	if err != nil {
		return nil
	}
	m := &merger{text: split(d.before), form: split(form), next: split(after), end: lineEnd(d.before)}
	return m.merge()
}

// says is true when the text means what the changed nodes do.
func (d *draft) says(text []byte) bool {
	got, fault := parse(d.sources.User, text)
	return fault == nil && got != nil && alike(got, d.root())
}

// keeps is true when every comment is still there, but for those of what was taken out.
func (d *draft) keeps(text []byte) bool {
	left, gone := comments(text), slices.Clone(d.gone)
	for _, c := range comments(d.before) {
		i := slices.Index(left, c)
		if i < 0 {
			if i = slices.Index(gone, c); i < 0 {
				return false
			}
			gone = slices.Delete(gone, i, i+1)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// comments lists the comments of a text, without white space.
func comments(text []byte) (all []string) {
	for line := range strings.Lines(string(text)) {
		if i := commentAt(line); i >= 0 {
			all = append(all, squeeze(line[i:]))
		}
	}
	return all
}

// commentAt finds "#" at the beginning of a line or behind a space, outside of quotes; -1 for none.
func commentAt(line string) int {
	quote, before := rune(0), ' '
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '#' && unicode.IsSpace(before):
			return i
		case (r == '"' || r == '\'') && strings.ContainsRune(" \t[{,:", before):
			quote = r
		}
		before = r
	}
	return -1
}

// squeeze leaves all white space out.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\ufeff' {
			return -1
		}
		return r
	}, s)
}

// indentation is how far the first line that is indented is, 2 when none is.
func indentation(text []byte) int {
	for _, l := range split(text) {
		if in := l.indent(); in > 1 && in <= 8 && l.key[0] != '#' && l.key[0] != '-' {
			return in
		}
	}
	return 2
}

func lineEnd(text []byte) string {
	if first, _, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasSuffix(first, []byte("\r")) {
		return "\r\n"
	}
	return "\n"
}
