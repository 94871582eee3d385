package config

import (
	"slices"
	"strings"
)

// textLine is one line that is not empty, and the empty ones before it.
type textLine struct {
	blank string // with their line ends
	text  string // with its line end; the last of a file may have none
	key   string // without white space: what is compared
}

func (l textLine) indent() int { return len(l.text) - len(strings.TrimLeft(l.text, " \t")) }

// split cuts a text; the empty lines at its end are a line without text.
func split(text []byte) []textLine {
	var all []textLine
	var blank strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "" {
			blank.WriteString(line)
			continue
		}
		all = append(all, textLine{blank.String(), line, squeeze(line)})
		blank.Reset()
	}
	return append(all, textLine{blank: blank.String()})
}

// merger brings the difference between form and next into text; form is the library's way to write text.
type merger struct {
	text, form, next []textLine
	end              string
	out              strings.Builder
	depth            [][2]int // of the lines of next so far: indentation there and in out
}

func (m *merger) merge() []byte {
	inText, inNext := match(m.form, m.text), match(m.form, m.next)
	var t, f, n int
	for i := range m.form {
		if i < len(m.form)-1 && (inText[i] < 0 || inNext[i] < 0) {
			continue
		}
		to, no := inText[i], inNext[i]
		m.part(m.text[t:to], m.form[f:i], m.next[n:no])
		m.keep(m.text[to], m.next[no])
		t, f, n = to+1, i+1, no+1
	}
	return []byte(m.out.String())
}

// part writes what stands between two lines that all three have.
func (m *merger) part(text, form, next []textLine) {
	same := func(a, b textLine) bool { return a.key == b.key }
	switch {
	case slices.EqualFunc(form, next, same):
		m.old(text)
	case len(form) == 0 && len(text) > 0 && !strings.HasPrefix(text[0].text, "..."): // such as ---, which the library does not write
		m.old(text)
		m.fresh(next)
	case len(form) == 0:
		m.fresh(next)
		m.old(text)
	default:
		if len(text) > 0 {
			m.out.WriteString(text[0].blank)
		}
		m.fresh(next)
	}
}

func (m *merger) old(lines []textLine) {
	for _, l := range lines {
		m.line(l.blank, l.text)
	}
}

// keep writes a line that stays. What follows it is indented as it is.
func (m *merger) keep(text, next textLine) {
	m.line(text.blank, text.text)
	if !strings.HasPrefix(next.key, "#") {
		m.depth = append(m.depth, [2]int{next.indent(), text.indent()})
	}
}

// fresh writes new lines, indented as the lines around them are in the text.
func (m *merger) fresh(lines []textLine) {
	for _, l := range lines {
		in := l.indent()
		out := in
		for _, d := range slices.Backward(m.depth) {
			if d[0] <= in {
				out = d[1] + in - d[0]
				break
			}
		}
		m.line("", strings.Repeat(" ", out)+strings.TrimSpace(l.text)+m.end)
		m.depth = append(m.depth, [2]int{in, out})
	}
}

func (m *merger) line(blank, text string) {
	if s := m.out.String(); (blank != "" || text != "") && s != "" && !strings.HasSuffix(s, "\n") {
		m.out.WriteString(m.end)
	}
	m.out.WriteString(blank + text)
}

// match finds for each line of a the same line of b, in order; -1 for none. The two are much alike, so that the nearest one is the right one. The ends
// match each other.
func match(a, b []textLine) []int {
	found := make([]int, len(a))
	for i := range found {
		found[i] = -1
	}
	i, j := 0, 0
	for i < len(a)-1 && j < len(b)-1 {
		if a[i].key == b[j].key {
			found[i] = j
			i, j = i+1, j+1
			continue
		}
		di, dj := rejoin(a[i:len(a)-1], b[j:len(b)-1])
		i, j = i+di, j+dj
	}
	found[len(a)-1] = len(b) - 1
	return found
}

// reach is how far apart two texts may be; a longer difference is written by the library from there on.
const reach = 400

// rejoin says how much to leave out of both to come to a line that both have.
func rejoin(a, b []textLine) (int, int) {
	for sum := 1; sum <= reach; sum++ {
		for i := max(0, sum-len(b)+1); i <= min(sum, len(a)-1); i++ {
			if a[i].key == b[sum-i].key {
				return i, sum - i
			}
		}
	}
	return len(a), len(b)
}
