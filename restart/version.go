package restart

import (
	"regexp"
	"strings"
	"sync"
)

// pep440 is the grammar of PEP 440 in its permissive form, for text in lower case.
var pep440 = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)` +
		`(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?([0-9]*))?` +
		`(?:-([0-9]+)|[-_.]?(post|rev|r)[-_.]?([0-9]*))?` +
		`(?:[-_.]?(dev)[-_.]?([0-9]*))?` +
		`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)
})

var phases = map[string]string{"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}

func sameVersion(language, a, b string) bool {
	if a == b || language == R {
		return a == b
	}
	x, fine := canonical(a)
	y, also := canonical(b)
	return fine && also && x == y
}

// canonical gives every spelling of one PEP 440 version the same text; numbers stay text, so that their size has no bound.
func canonical(version string) (string, bool) {
	text := lowerASCII(strings.TrimSpace(version))
	m := pep440().FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	var b strings.Builder
	if epoch := number(m[1]); epoch != "0" {
		b.WriteString(epoch + "!")
	}
	b.WriteString(release(m[2]))
	if m[3] != "" {
		b.WriteString(phase(m[3]) + number(m[4]))
	}
	if m[5] != "" || m[6] != "" {
		b.WriteString(".post" + number(m[5]+m[7]))
	}
	if m[8] != "" {
		b.WriteString(".dev" + number(m[9]))
	}
	if m[10] != "" {
		b.WriteString("+" + local(m[10]))
	}
	return b.String(), true
}

// release drops the zeros at the end, which mean nothing: 1.0 is 1.0.0.
func release(text string) string {
	parts := strings.Split(text, ".")
	for i, part := range parts {
		parts[i] = number(part)
	}
	for len(parts) > 1 && parts[len(parts)-1] == "0" {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, ".")
}

func phase(word string) string {
	if short, ok := phases[word]; ok {
		return short
	}
	return word
}

func local(label string) string {
	parts := strings.FieldsFunc(label, isSeparator)
	for i, part := range parts {
		if strings.Trim(part, "0123456789") == "" {
			parts[i] = number(part)
		}
	}
	return strings.Join(parts, ".")
}

// number is digits without leading zeros; a number that is left out is 0.
func number(digits string) string {
	if short := strings.TrimLeft(digits, "0"); short != "" {
		return short
	}
	return "0"
}

// lowerASCII leaves letters beyond ASCII alone: some of them have ASCII lower cases (the Kelvin sign), and no version or name has them.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func isSeparator(r rune) bool { return r == '-' || r == '_' || r == '.' }
