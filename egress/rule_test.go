package egress

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRule(t *testing.T) {
	for in, want := range map[string]string{
		"PyPI.org":              "pypi.org",
		" x.test ":              "x.test",
		"X.Test.":               "x.test",
		"*.pythonhosted.org":    "*.pythonhosted.org",
		".lab.test:443":         ".lab.test:443",
		"*.Lab.Test.:8443":      "*.lab.test:8443",
		"bücher.example":        "xn--bcher-kva.example",
		".Bücher.example:81":    ".xn--bcher-kva.example:81",
		"xn--bcher-kva.example": "xn--bcher-kva.example",
		"pypi.org:443":          "pypi.org:443",
		"db:5432":               "db:5432",
		"a_b.test":              "a_b.test",
		"192.0.2.7:8080":        "192.0.2.7:8080",
		"[2606:4700::1]":        "[2606:4700::1]",
		"[2606:4700::1]:22":     "[2606:4700::1]:22",
	} {
		r, err := ParseRule(in)
		require.NoError(t, err, in)
		assert.Equal(t, want, r.String(), in)
		again, err := ParseRule(r.String())
		require.NoError(t, err)
		assert.Equal(t, r, again)
	}
}

// What is wrong is said, and what would be right where it can be known.
func TestParseRuleRefuses(t *testing.T) {
	for _, c := range []struct{ in, what, suggest string }{
		{"", "empty", ""},
		{"  ", "empty", ""},
		{"*", "every host", ""},
		{"*.*", "every host", ""},
		{".", "every host", ""},
		{"*.org", "too broad", ""},
		{".org", "too broad", ""},
		{"https://pypi.org/simple", "URL", "pypi.org"},
		{"https://pypi.org:8443/simple", "URL", "pypi.org:8443"},
		{"pypi.org/simple", "path", "pypi.org"},
		{"pypi.org?x", "path", "pypi.org"},
		{"user@pypi.org", "user", "pypi.org"},
		{"pypi.org files.pythonhosted.org", "white space", ""},
		{"pypi.*", "star", ""},
		{"a.*.example.org", "star", "*.example.org"},
		{"*pypi.org", "star", "*.pypi.org"},
		{"*.*.pypi.org", "star", "*.pypi.org"},
		{"pypi.org:", "port is missing", "pypi.org"},
		{"pypi.org:0", "zero", "pypi.org"},
		{"pypi.org:65536", "65535", "pypi.org"},
		{"pypi.org:80-90", "decimal", "pypi.org"},
		{"pypi.org:https", "decimal", "pypi.org"},
		{"-bad.example", "hyphen", ""},
		{"a..b", "empty", ""},
		{"..b.test", "empty", ""},
		{"localhost", "loopback", ""},
		{"localhost:8080", "loopback", ""},
		{".localhost", "loopback", ""},
		{"x.localhost", "loopback", ""},
		{"metadata.google.internal", "metadata service", ""},
		{"*.Metadata.Google.Internal.:80", "metadata service", ""},
		{"10.0.0.0/8", "range", ""},
		{"127.0.0.1", "loopback", ""},
		{"10.1.2.3:443", "private", ""},
		{"[::1]:443", "loopback", ""},
		{"::1", "colon", ""},
		{"2606:4700::1", "colon", "[2606:4700::1]"},
		{"[::1", "bracket", ""},
		{"[fe80::1%eth0]", "zone", ""},
		{"2130706433", "127.0.0.1 is a loopback address", ""},
		{"010.0.0.1", "usual spelling", "8.0.0.1"},
		{"0x7f.1", "127.0.0.1 is a loopback address", ""},
		{"1.2.3.4.:8443", "usual spelling", "1.2.3.4:8443"},
		{"https://me@1.2.3.04:81/x", "URL", "1.2.3.4:81"},
		{"https://[2606:4700:0::1]/x", "URL", "[2606:4700::1]"},
		{"me@pypi.org/simple", "user", "pypi.org"},
		{"https://-bad.example/", "URL", ""},
		{"https://127.0.0.1/", "URL", ""},
		{"1.2.3.4.5", "ends in a number", ""},
		{"0b1.2", "ends in a number", ""},
		{"0o17.1", "ends in a number", ""},
		{"1.2.3.08", "ends in a number", ""},
		{"0X08080808", "usual spelling", "8.8.8.8"},
		{"*.192.0.2.7", "below an address", "192.0.2.7"},
		{"[2606:4700:0::1]", "usual spelling", "[2606:4700::1]"},
		{"[::ffff:192.0.2.7]:25", "usual spelling", "192.0.2.7:25"},
		{"a\x00.test", "byte", ""},
	} {
		_, err := ParseRule(c.in)
		var re *RuleError
		require.ErrorAs(t, err, &re, "%q", c.in)
		assert.Contains(t, err.Error(), c.what, "%q", c.in)
		assert.Equal(t, c.suggest, re.Suggest, "%q: %v", c.in, err)
	}
}

func TestGroups(t *testing.T) {
	assert.Equal(t, []string{"bio", "conda", "github", "huggingface", "python", "r"}, GroupNames())
	for _, name := range GroupNames() {
		rules, ok := Group(name)
		require.True(t, ok)
		seen := map[string]bool{}
		for _, r := range rules {
			again, err := ParseRule(r.String())
			require.NoError(t, err)
			assert.Equal(t, again, r)
			assert.Equal(t, reachExact, r.reach, "groups hold exact hosts")
			assert.False(t, seen[r.name], "%s twice in %s", r.name, name)
			seen[r.name] = true
		}
	}
	_, ok := Group("nobody")
	assert.False(t, ok)
}

func TestParsePin(t *testing.T) {
	for _, c := range [][3]string{
		{".lab.test:443", "127.0.0.1:8443", ".lab.test:443 → 127.0.0.1:8443"},
		{"lab.test", "10.0.0.7", "lab.test → 10.0.0.7"},
		{"lab.test", "[::1]:80", "lab.test → [::1]:80"},
		{"lab.test", "fd00::7", "lab.test → fd00::7"},
		{"lab.test", "[::ffff:10.0.0.7]:1", "lab.test → 10.0.0.7:1"},
	} {
		p, err := ParsePin(c[0], c[1])
		require.NoError(t, err)
		assert.Equal(t, c[2], p.String())
	}
	for _, c := range [][2]string{
		{"lab.test", "localhost:80"},
		{"lab.test", "127.1:80"},
		{"lab.test", "0.0.0.0:80"},
		{"lab.test", "127.0.0.1:0"},
		{"lab.test", "127.0.0.1:"},
		{"lab.test", "[fe80::1%eth0]:80"},
		{"lab.test", "fe80::1%eth0"},
		{"lab.test", "224.0.0.1:1"},
		{"lab.test", ""},
		{"192.0.2.1", "127.0.0.1:1"},
		{"*", "127.0.0.1:1"},
		{"localhost", "127.0.0.1:1"},
	} {
		_, err := ParsePin(c[0], c[1])
		assert.Error(t, err, "%v", c)
	}
}

func TestParseInward(t *testing.T) {
	i, err := ParseInward("Mirror.corp.example", "10.20.0.0/16")
	require.NoError(t, err)
	assert.Equal(t, "mirror.corp.example into 10.20.0.0/16", i.String())
	_, err = ParseInward("x.example", "fd12::7")
	require.NoError(t, err)
	for _, c := range [][2]string{
		{"x.example", "0.0.0.0/0"},
		{"x.example", "127.0.0.0/8"},
		{"x.example", "169.254.0.0/16"},
		{"x.example", "169.254.169.254"},
		{"x.example", "100.100.100.200"},
		{"x.example", "fd00:ec2::/48"},
		{"x.example", "::1"},
		{"x.example", "fe80::/10"},
		{"x.example", "10.0.0.0/7"},
		{"x.example", "93.184.216.0/24"},
		{"x.example", "::ffff:10.0.0.0/104"},
		{"x.example", "10"},
		{"*.x.example", "10.0.0.0/8"},
		{"x.example:443", "10.0.0.0/8"},
	} {
		_, err := ParseInward(c[0], c[1])
		assert.Error(t, err, "%v", c)
	}
	_, err = ParseInward("x.example", "10.20.3.4/16")
	assert.ErrorContains(t, err, `write "10.20.0.0/16"`)
}

func TestARuleThatLetsOutToAnybodySaysSo(t *testing.T) {
	for rule, warns := range map[string]bool{
		".co.uk": true, "*.github.io": true, ".s3.amazonaws.com": true, ".github.io:443": true,
		".example.co.uk": false, "*.user.github.io": false, "github.io": false, ".example.com": false, ".corp.internal": false,
	} {
		r, err := ParseRule(rule)
		require.NoError(t, err, rule)
		assert.Equal(t, warns, r.Caution() != "", rule)
	}
}
