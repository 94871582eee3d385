package envs

import (
	"net/url"
	"path/filepath"
	"strings"
)

const netrcMost = 1 << 20

// netrc returns the credentials that the user's netrc has for the host of rawURL.
func (s IndexSources) netrc(rawURL string) Credentials {
	u, err := url.Parse(rawURL)
	if err != nil {
		return Credentials{}
	}
	files := []string{filepath.Join(s.Home, ".netrc"), filepath.Join(s.Home, "_netrc")}
	if f := s.Getenv("NETRC"); f != "" {
		files = []string{f}
	}
	for _, f := range files {
		if data, err := s.ReadFile(f); err == nil && len(data) <= netrcMost {
			return parseNetrc(string(data), u.Hostname())
		}
	}
	return Credentials{}
}

// parseNetrc returns the first entry of host, else the default entry.
func parseNetrc(data, host string) Credentials {
	var entry, fallback, none Credentials
	into := &none
	words := append(netrcWords(data), "")
	for i := 0; i < len(words)-1; i++ {
		key, next := words[i], words[i+1]
		switch key {
		case "machine":
			if into = &none; strings.EqualFold(next, host) && entry.empty() {
				into = &entry
			}
		case "default":
			into = &fallback
			continue // it has no value
		case "login":
			into.User = next
		case "password":
			into.Password = Secret(next)
		case "account":
		default:
			continue
		}
		i++
	}
	if entry.empty() {
		return fallback
	}
	return entry
}

// netrcWords leaves out comments and macros (a macro ends with a blank line) and takes quotes off.
func netrcWords(data string) (words []string) {
	macro := false
	for line := range strings.SplitSeq(data, "\n") {
		line = strings.TrimSpace(line)
		if macro || strings.HasPrefix(line, "macdef") {
			macro = line != ""
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, w := range strings.Fields(line) {
			if len(w) > 1 && w[0] == '"' && w[len(w)-1] == '"' {
				w = w[1 : len(w)-1]
			}
			words = append(words, w)
		}
	}
	return words
}
