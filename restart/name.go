package restart

import "strings"

// normalName is PEP 503's form for Python; R's names mean what they say.
func normalName(language, name string) string {
	if language == R || isNormal(name) {
		return name
	}
	var b strings.Builder
	gap := false
	for _, r := range lowerASCII(name) {
		if isSeparator(r) {
			gap = true
			continue
		}
		if gap {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	if gap {
		b.WriteByte('-')
	}
	return b.String()
}

func isNormal(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' || c == '_' || c == '.' || c == '-' && i > 0 && name[i-1] == '-' {
			return false
		}
	}
	return true
}

// requiredName is the name that a requirement string begins with; "" for one that holds only with an extra.
func requiredName(language, requirement string) string {
	text, marker, _ := strings.Cut(requirement, ";")
	if strings.Contains(marker, "extra") {
		return ""
	}
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || isSeparator(r))
	})
	if end >= 0 {
		text = text[:end]
	}
	return normalName(language, text)
}
