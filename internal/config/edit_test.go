package config

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
)

func rules(t testing.TB, words ...string) (all []egress.Rule) {
	t.Helper()
	for _, w := range words {
		r, err := egress.ParseRule(w)
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

// edit makes the change and returns the file.
func (w *world) edit(c Change) (*Edited, string) {
	w.t.Helper()
	e, err := Edit(w.t.Context(), w.s, c)
	require.NoError(w.t, err)
	text, err := os.ReadFile(w.s.User)
	require.NoError(w.t, err)
	return e, string(text)
}

func (w *world) allows(host string) bool {
	w.t.Helper()
	t, err := egress.ParseHost(host, 443)
	require.NoError(w.t, err)
	return w.load().Rules().Decide(t).Verdict == egress.Allow
}

var everywhere = Scope{Everywhere: true}

// commented has what the YAML library would change: columns, empty lines, an indentation of four, lists that are not indented.
const commented = `# The policy of this person.
version: 1     # the only one

egress:        # what may be reached
    groups: [bio]   # nothing else

    # Mirrors.
    allow:
    - a.test   # the first
    # the second is gone

    - "b.test"

    deny: [ x.test,   y.test ]    # never


# Boxes.
sandbox: {network: allowlist,   debug: false }   # as it is
# The end.
`

func TestAnEditChangesNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		change   Change
		old, new string // lines of commented
	}{
		"a rule more":          {Allow(everywhere, rules(t, "c.test")...), "    - \"b.test\"\n", "    - \"b.test\"\n    - c.test\n"},
		"a deny in flow style": {Deny(everywhere, rules(t, "*.z.test")...), "    deny: [ x.test,   y.test ]    # never\n", "    deny: [x.test, y.test, '*.z.test'] # never\n"},
		"a section more": {
			Allow(Scope{Env: "study"}, rules(t, "c.test")...), "# The end.\n",
			"# The end.\nenvironments:\n    study:\n        egress:\n            allow_also: [c.test]\n",
		},
		"a folder": {
			Allow(Scope{}, rules(t, "c.test")...), "# The end.\n",
			"# The end.\nfolders:\n    \"~/work/study\":\n        egress:\n            allow_also: [c.test]\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).user(commented)
			e, text := w.edit(c.change)
			assert.True(t, e.Changed)
			assert.Equal(t, strings.Replace(commented, c.old, c.new, 1), text)
		})
	}
}

func TestARuleThatGoesTakesItsOwnCommentAlone(t *testing.T) {
	const text = "egress:\n  deny:\n    # of the first\n    - a.test  # a\n    # of the second\n    - b.test  # b\n    # below\n  allow: []\n"
	w := newWorld(t).user(text)
	_, got := w.edit(Allow(everywhere, rules(t, "b.test")...))
	assert.Equal(t, "egress:\n  deny:\n    # of the first\n    - a.test  # a\n    # below\n  allow: [b.test]\n", got)
	_, got = w.edit(Allow(everywhere, rules(t, "a.test")...))
	assert.Equal(t, "egress:\n  allow: [b.test, a.test]\n", got, "a list of no denials says nothing")
	_, got = w.edit(Deny(everywhere, rules(t, "a.test", "b.test")...))
	assert.Equal(t, "egress:\n  allow: []\n  deny: [a.test, b.test]\n", got, "an empty allow still replaces another")
}

func TestEveryFormOfAFile(t *testing.T) {
	const rule = "n.test"
	for name, c := range map[string]struct{ old, new string }{
		"empty":                {"", "egress:\n  allow: [n.test]\n"},
		"comments":             {"# mine\n\n# sandbox: {}\n", "# mine\n\n# sandbox: {}\negress:\n  allow: [n.test]\n"},
		"no last line end":     {"version: 1", "version: 1\negress:\n  allow: [n.test]\n"},
		"null":                 {"~\n", "egress:\n  allow: [n.test]\n"},
		"braces":               {"{}\n", "egress:\n  allow: [n.test]\n"},
		"all in flow style":    {"{version: 1, egress: {allow: [ a.test ] } } # all\n", "{version: 1, egress: {allow: [a.test, n.test]}} # all\n"},
		"an empty section":     {"egress:   # nothing yet\n  # allow: [x.test]\n\nsandbox:\n  # none\n", "egress:   # nothing yet\n  allow: [n.test]\n  # allow: [x.test]\n\nsandbox:\n  # none\n"},
		"anchors":              {"egress: &e\n  allow: &a [a.test]\n  groups: &g [bio]  # g\n", "egress: &e\n  allow: &a [a.test, n.test]\n  groups: &g [bio]  # g\n"},
		"a document's marks":   {"---   # begins\nversion:  1\n\n...\n", "---   # begins\nversion:  1\negress:\n  allow: [n.test]\n\n...\n"},
		"windows line ends":    {"# mine\r\nversion:  1\r\negress:\r\n  allow:\r\n  - a.test   # a\r\n\r\n  deny: []\r\n", "# mine\r\nversion:  1\r\negress:\r\n  allow:\r\n  - a.test   # a\r\n  - n.test\r\n\r\n  deny: []\r\n"},
		"a byte order mark":    {"\ufeffversion:  1\n", "\ufeffversion:  1\negress:\n  allow: [n.test]\n"},
		"lines in brackets":    {"egress:\n  allow: [\n    a.test,\n    b.test ]\n  groups: [bio]\n  deny: [\n    x.test ]\n", "egress:\n  allow: [a.test, b.test, n.test]\n  groups: [bio]\n  deny: [\n    x.test ]\n"},
		"quotes and unicode":   {"egress:\n  allow: ['a.test', \"bücher.test\"]   # ü # ü\nhooks: {after_install: []}\n", "egress:\n  allow: ['a.test', \"bücher.test\", n.test] # ü # ü\nhooks: {after_install: []}\n"},
		"a block of text":      {"sandbox:\n  env:\n    set:\n      A: |\n        # one\n\n          two\n\n      B: x   # b\n", "sandbox:\n  env:\n    set:\n      A: |\n        # one\n\n          two\n\n      B: x   # b\negress:\n  allow: [n.test]\n"},
		"comments in brackets": {"egress:\n  allow: [\n    a.test,  # the mirror\n    b.test,\n    # no more\n  ]\n", "egress:\n  allow: [\n    a.test,  # the mirror\n    b.test,\n    # no more\n    n.test]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).user(c.old)
			before := w.load()
			e, text := w.edit(Allow(everywhere, rules(t, rule)...))
			assert.True(t, e.Changed)
			assert.Equal(t, c.new, text)
			assert.Equal(t, e.After.Rules(), w.load().Rules(), "what was promised holds")
			assert.Equal(t, before.Sandbox, w.load().Sandbox)
			e, again := w.edit(Allow(everywhere, rules(t, rule)...))
			assert.False(t, e.Changed, "a second time changes nothing")
			assert.Equal(t, text, again)
		})
	}
}
