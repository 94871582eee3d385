package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
)

func TestTheNarrowestWayThatHelpsIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		user, policy, host string
		port               uint16
		profile            string
		want               string // empty: none
		scope              Scope
	}{
		"nothing names it":                  {"", "", "n.test", 443, "", "n.test", Scope{}},
		"another port":                      {"egress: {allow: [n.test]}\n", "", "n.test", 8443, "", "n.test:8443", Scope{}},
		"plain":                             {"", "", "n.test", 80, "", "n.test", Scope{}},
		"an address":                        {"", "", "192.0.2.7", 443, "", "192.0.2.7", Scope{}},
		"a private address":                 {"", "", "10.0.0.7", 443, "", "", Scope{}},
		"denied in the folder":              {"folders: {~/work: {egress: {deny: [n.test]}}}\n", "", "n.test", 443, "", "n.test", Scope{}},
		"denied for the environment":        {"environments: {default: {egress: {deny: [n.test]}}}\n", "", "n.test", 443, "", "n.test", Scope{Env: "default"}},
		"denied everywhere":                 {"egress: {deny: [n.test]}\n", "", "n.test", 443, "", "n.test", everywhere},
		"denied by a wider rule":            {"egress: {deny: [.n.test]}\n", "", "n.test", 443, "", "", Scope{}},
		"the environment's own list":        {"environments: {default: {egress: {allow: [a.test]}}}\n", "", "n.test", 443, "", "n.test", Scope{Env: "default"}},
		"a profile with a list of its own":  {"profiles: {p: {egress: {allow: [a.test]}}}\n", "", "n.test", 443, "p", "", Scope{}},
		"allowed already":                   {"egress: {allow: [n.test]}\n", "", "n.test", 443, "", "", Scope{}},
		"more than the machine's ceiling":   {"", "egress: {allow: [a.test]}\n", "n.test", 443, "", "", Scope{}},
		"what the machine's ceiling allows": {"", "egress: {allow: [.n.test]}\n", "n.test", 443, "", "n.test", Scope{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).user(c.user)
			if c.policy != "" {
				w.policy(c.policy)
			}
			w.s.Profile = c.profile
			target, err := egress.ParseHost(c.host, c.port)
			require.NoError(t, err)
			scope, rule, found, _ := Way(w.s, target)
			require.Equal(t, c.want != "", found)
			if !found {
				return
			}
			assert.Equal(t, c.want, rule.String())
			assert.Equal(t, c.scope, scope)
			_, err = Edit(t.Context(), w.s, Allow(scope, rule))
			require.NoError(t, err)
			assert.Equal(t, egress.Allow, w.load().Rules().Decide(target).Verdict, "it works")
		})
	}
}

func TestTheCeilingIsSaidWhereItKeepsTheWayShut(t *testing.T) {
	w := newWorld(t).policy("egress: {allow: [a.test]}\n")
	_, _, found, err := Way(w.s, egress.Target{Name: "n.test", Port: 443})
	assert.False(t, found)
	assert.ErrorAs(t, err, new(*ClippedError))
}
