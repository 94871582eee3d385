package sandbox

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// form is a word, a string or a list of a profile.
type form struct {
	word, text string
	list       []form
}

func (f form) head() string {
	if len(f.list) == 0 {
		return ""
	}
	return f.list[0].word
}

// model answers for a profile as its language is described: the last rule that fits an operation decides. It stands in for a machine that none of these
// tests has, so it can show that the text says what is meant, and nothing about what the system makes of it.
type model struct {
	t      *testing.T
	rules  []form
	params map[string]string
}

// action is what a program tries.
type action struct {
	operation string
	path      string // of a file or a local socket
	vnode     string // what is made
	address   string // of the network, as "localhost:80"
	name      string // of a service or a setting
}

func newModel(t *testing.T, s *Seatbelt, start map[string]string) model {
	t.Helper()
	argv, err := s.Arguments(start, []string{"/bin/cat"})
	require.NoError(t, err)
	tokens, err := readProfile(s.Profile)
	require.NoError(t, err)
	m := model{t: t, params: parametersOf(t, argv)}
	for len(tokens) > 0 {
		var f form
		f, tokens = parseForm(tokens)
		m.rules = append(m.rules, f)
	}
	require.Equal(t, "version", m.rules[0].head())
	return m
}

func parseForm(tokens []sbplToken) (form, []sbplToken) {
	switch first := tokens[0]; first.kind {
	case "word":
		return form{word: first.text}, tokens[1:]
	case "string":
		return form{text: first.text}, tokens[1:]
	}
	var out form
	for tokens = tokens[1:]; tokens[0].kind != ")"; {
		var f form
		f, tokens = parseForm(tokens)
		out.list = append(out.list, f)
	}
	return out, tokens[1:]
}

func (m model) allows(a action) bool {
	allowed := true
	for _, r := range m.rules[1:] {
		if r.head() == "if" {
			if _, given := m.params[m.param(r.list[1])]; !given {
				continue
			}
			r = r.list[2]
		}
		if m.fitsRule(r, a) {
			allowed = r.head() == "allow"
		}
	}
	return allowed
}

func (m model) fitsRule(r form, a action) bool {
	require.Contains(m.t, []string{"allow", "deny"}, r.head())
	operation, filters, filtered := false, false, false
	for _, f := range r.list[1:] {
		if f.word != "" {
			stem, star := strings.CutSuffix(f.word, "*")
			operation = operation || f.word == "default" || f.word == a.operation || star && strings.HasPrefix(a.operation, stem)
			continue
		}
		filtered = true
		filters = filters || m.fits(f, a)
	}
	return operation && (filters || !filtered)
}

func (m model) fits(f form, a action) bool {
	args := f.list[1:]
	all := func(want bool) bool {
		for _, sub := range args {
			if m.fits(sub, a) != want {
				return false
			}
		}
		return true
	}
	switch f.head() {
	case "require-all":
		return all(true)
	case "require-not":
		return all(false)
	case "literal":
		return a.path == m.text(args[0])
	case "subpath":
		return a.path != "" && within(a.path, m.text(args[0]))
	case "path-ancestors":
		return a.path != "" && below(m.text(args[0]), a.path)
	case "regex":
		return a.path != "" && regexp.MustCompile(m.text(args[0])).MatchString(a.path)
	case "vnode-type":
		return a.vnode == args[0].word
	case "local", "remote":
		return m.fitsSocket(args, a)
	case "global-name", "sysctl-name":
		return a.name == m.text(args[0])
	case "sysctl-name-prefix":
		return a.name != "" && strings.HasPrefix(a.name, m.text(args[0]))
	case "target", "socket-domain", "extension":
		return false
	}
	m.t.Fatalf("the model knows no filter %q", f.head())
	return false
}

func (m model) fitsSocket(args []form, a action) bool {
	if args[0].word == "unix-socket" {
		return a.path != "" && m.fits(args[1], a)
	}
	return a.address != "" && (len(args) == 1 || a.address == m.text(args[1]))
}

func (m model) param(f form) string {
	require.Equal(m.t, "param", f.head())
	return f.list[1].text
}

func (m model) text(f form) string {
	switch f.head() {
	case "":
		return f.text
	case "param":
		value, given := m.params[m.param(f)]
		require.True(m.t, given, "parameter %s", m.param(f))
		return value
	case "regex-quote":
		return regexp.QuoteMeta(m.text(f.list[1]))
	case "string-append":
		var out strings.Builder
		for _, part := range f.list[1:] {
			out.WriteString(m.text(part))
		}
		return out.String()
	}
	m.t.Fatalf("the model knows no text %q", f.head())
	return ""
}
