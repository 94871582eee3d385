package egress

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustTarget(t *testing.T, s string) Target {
	target, err := ParseHost(s, 443)
	require.NoError(t, err)
	return target
}

func TestDecide(t *testing.T) {
	rules := mustRules("pypi.org", "*.pythonhosted.org", ".lab.test", "git.test:22", "192.0.2.7", "db:5432", "bad.lab.test:8443")
	for _, s := range []string{"bad.lab.test", "*.evil.lab.test:443"} {
		r, err := ParseRule(s)
		require.NoError(t, err)
		rules.Deny = append(rules.Deny, r)
	}
	for _, c := range []struct{ host, code, rule string }{
		{"pypi.org", CodeAllowed, "pypi.org"},
		{"PyPI.ORG:80", CodeAllowed, "pypi.org"},
		{"pypi.org.", CodeAllowed, "pypi.org"},
		{"pypi.org:25", CodePortNotListed, "pypi.org"},
		{"evilpypi.org", CodeNotListed, ""},
		{"pypi.org.evil.example", CodeNotListed, ""},
		{"test.pypi.org", CodeNotListed, ""},
		{"files.pythonhosted.org", CodeAllowed, "*.pythonhosted.org"},
		{"a.b.pythonhosted.org", CodeAllowed, "*.pythonhosted.org"},
		{"pythonhosted.org", CodeNotListed, ""},
		{"xpythonhosted.org", CodeNotListed, ""},
		{"lab.test", CodeAllowed, ".lab.test"},
		{"x.lab.test", CodeAllowed, ".lab.test"},
		{"xlab.test", CodeNotListed, ""},
		{"git.test:22", CodeAllowed, "git.test:22"},
		{"git.test:443", CodePortNotListed, "git.test:22"},
		{"db:5432", CodeAllowed, "db:5432"},
		{"192.0.2.7", CodeAllowed, "192.0.2.7"},
		{"192.0.2.7:81", CodePortNotListed, "192.0.2.7"},
		{"192.0.2.8", CodeAddressLiteral, ""},
		{"127.0.0.1", CodeAddressLiteral, ""},
		{"::1", CodeAddressLiteral, ""},
		{"localhost", CodeLocalName, ""},
		{"lab.test.localhost", CodeLocalName, ""},
		{"bad.lab.test", CodeDenyRule, "bad.lab.test"},
		{"bad.lab.test:8443", CodeDenyRule, "bad.lab.test"},
		{"x.evil.lab.test", CodeDenyRule, "*.evil.lab.test:443"},
		{"x.evil.lab.test:80", CodeAllowed, ".lab.test"},
		{"evil.lab.test", CodeAllowed, ".lab.test"},
	} {
		d := rules.Decide(mustTarget(t, c.host))
		assert.Equal(t, c.code, d.Code, c.host)
		assert.Equal(t, c.rule, d.Rule, c.host)
		assert.Equal(t, c.code == CodeAllowed, d.Verdict == Allow, c.host)
	}
	assert.Equal(t, Deny, (&Rules{}).Decide(mustTarget(t, "pypi.org")).Verdict)
	assert.Equal(t, Deny, (&Rules{Allow: []Rule{{}}}).Decide(Target{Port: 443}).Verdict, "zero values match nothing")
}

func TestPinsResolveAndDoNotPermit(t *testing.T) {
	rules := mustRules(".lab.test", "x.lab.test:9")
	for _, p := range [][2]string{
		{".lab.test", "127.0.0.1:1"}, {"*.lab.test:443", "127.0.0.1:2"}, {".lab.test:443", "127.0.0.1:3"}, {"x.lab.test", "127.0.0.4"}, {".other.test", "127.0.0.1:5"},
	} {
		pin, err := ParsePin(p[0], p[1])
		require.NoError(t, err)
		rules.Pins = append(rules.Pins, pin)
	}
	for host, want := range map[string]string{
		"lab.test:80":    "127.0.0.1:1",
		"lab.test:443":   "127.0.0.1:3",
		"a.lab.test:443": "127.0.0.1:2",
		"x.lab.test:443": "127.0.0.4:443",
		"x.lab.test:9":   "127.0.0.4:9",
	} {
		d := rules.Decide(mustTarget(t, host))
		assert.Equal(t, CodePinned, d.Code, host)
		assert.Equal(t, want, d.Pin.String(), host)
	}
	d := rules.Decide(mustTarget(t, "other.test"))
	assert.Equal(t, CodeNotListed, d.Code)
	assert.False(t, d.Pin.IsValid())
	assert.Equal(t, CodePortNotListed, rules.Decide(mustTarget(t, "lab.test:25")).Code)
}
