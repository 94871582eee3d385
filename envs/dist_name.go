package envs

import "strings"

var (
	separators = newForm(`[-_.]+`)
	distName   = newForm(`\A(?i:[A-Z0-9]([A-Z0-9._-]*[A-Z0-9])?)\z`)
	eggPython  = newForm(`-py[0-9.]+(-.*)?\z`)
)

// normalName is the form of PEP 503 under which distributions are compared.
func normalName(name string) string {
	if plainName(name) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case !isSeparator(c):
			b.WriteByte(c)
		case i == 0 || !isSeparator(name[i-1]):
			b.WriteByte('-')
		}
	}
	return strings.ToLower(b.String())
}

func isSeparator(c byte) bool { return c == '-' || c == '_' || c == '.' }

// isDistName is what distName says, for thousands of names.
func isDistName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case isLetter(c) || '0' <= c && c <= '9':
		case isSeparator(c) && 0 < i && i < len(name)-1:
		default:
			return c >= 0x80 && distName.MatchString(name) // two signs there are letters in small or large
		}
	}
	return name != ""
}

// plainName spares the expression for the names that most distributions have.
func plainName(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// stemName splits the file name of a description: "six-1.16.0.dist-info", "lz4-4.0.2+dfsg-py3.11.egg-info", "cryptography.egg-info".
func stemName(file string) (name, version string) {
	stem := file[:strings.LastIndexByte(file, '.')]
	if strings.HasSuffix(strings.ToLower(file), ".egg-info") || strings.HasSuffix(file, ".egg") {
		stem = eggPython.ReplaceAllString(stem, "")
	}
	name, version, _ = strings.Cut(stem, "-")
	return name, version
}
