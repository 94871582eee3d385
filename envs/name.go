package envs

import "strings"

// A name is a folder name, a part of kernelspec names and an argument: nothing in it may mean anything to a shell, a path or an option parser.
func hasNameForm(name string) bool {
	for i := range len(name) {
		c := name[i]
		alphanumeric := 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !alphanumeric && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// CheckName says why name cannot name an environment: a *NameError, or nil.
func CheckName(name string) error {
	if hasNameForm(name) {
		return nil
	}
	switch {
	case name == "":
		return &NameError{name, "it is empty"}
	case len(name) > 64:
		return &NameError{name, "it is longer than 64 characters"}
	case strings.ContainsAny(name[:1], "._-"):
		return &NameError{name, "the first character must be a letter or a digit"}
	}
	return &NameError{name, "only letters, digits, '.', '_' and '-' are allowed"}
}

func checkLanguage(language string) error {
	for _, l := range Languages() {
		if l == language {
			return nil
		}
	}
	return &LanguageError{language}
}
