// Package plain makes text that came from elsewhere (kernels, wheels, indexes, tools) safe to print and to log.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one printable line of at most max bytes: line breaks and tabs become spaces, every other
// control or invisible formatting character is written as an escape, bytes that are no UTF-8 likewise. What is cut is said by "…".
func Line(s string, max int) string {
	s = strings.TrimSpace(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s))
	return cut(escape(s, false), max)
}

// Text is Line for several lines: "\n" and tabs stay, "\r\n" becomes "\n".
func Text(s string, max int) string {
	return cut(escape(strings.ReplaceAll(s, "\r\n", "\n"), true), max)
}

func escape(s string, lines bool) string {
	if clean(s, lines) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case printable(r, lines):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}

func clean(s string, lines bool) bool {
	for _, r := range s {
		if r == utf8.RuneError || !printable(r, lines) {
			return false
		}
	}
	return true
}

// printable excludes the format class Cf as well: direction overrides make a line read as another one.
func printable(r rune, lines bool) bool {
	if lines && (r == '\n' || r == '\t') {
		return true
	}
	return r == ' ' || unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r)
}

func cut(s string, max int) string {
	if max <= 0 || len(s) <= max {
		return s
	}
	const mark = "…"
	end := max - len(mark)
	if end < 0 {
		end = 0
	}
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
