package config

import "strings"

// These checks are written out: an expression is compiled in every process, whether it reads such a name or not.

const (
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

// madeOf says whether s is not empty, begins with one of first and has nothing but more.
func madeOf(s, first, more string) bool {
	return s != "" && strings.IndexByte(first, s[0]) >= 0 && onlyOf(s, more)
}

func onlyOf(s, set string) bool {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return true
}

func environmentName(s string) bool {
	return len(s) <= 64 && madeOf(s, letters+digits, letters+digits+"._-")
}

func variableName(s string) bool {
	return madeOf(s, letters+"_", letters+digits+"_")
}

// headerName is a token of RFC 9110.
func headerName(s string) bool {
	const token = "!#$%&'*+-.^_`|~" + letters + digits
	return madeOf(s, token, token)
}
