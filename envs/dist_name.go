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
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
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
