package egress

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseAuthority(t *testing.T) {
	name := func(n string, p uint16) Target { return Target{Name: n, Port: p} }
	addr := func(a string, p uint16) Target { return Target{Addr: netip.MustParseAddr(a), Port: p} }
	for in, want := range map[string]Target{
		"allowed.test:443":                      name("allowed.test", 443),
		"ALLOWED.Test.:1":                       name("allowed.test", 1),
		"a_b.test:65535":                        name("a_b.test", 65535),
		"xn--allowed.test:80":                   name("xn--allowed.test", 80),
		"db:5432":                               name("db", 5432),
		"1a.test1:443":                          name("1a.test1", 443),
		"0xyz:443":                              name("0xyz", 443),
		"7.7.7.7:443":                           addr("7.7.7.7", 443),
		"[::1]:443":                             addr("::1", 443),
		"[::ffff:127.0.0.1]:443":                addr("127.0.0.1", 443),
		"[2001:DB8::1]:443":                     addr("2001:db8::1", 443),
		strings.Repeat("a", 63) + ".test:443":   name(strings.Repeat("a", 63)+".test", 443),
		strings.Repeat("a.", 126) + "a:443":     name(strings.Repeat("a.", 126)+"a", 443),
		strings.Repeat("a.", 126) + "a.:443":    name(strings.Repeat("a.", 126)+"a", 443),
		"under_score.xn--bcher-kva.example:443": name("under_score.xn--bcher-kva.example", 443),
	} {
		got, err := ParseAuthority(in)
		require.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
}

func TestParseAuthorityRefuses(t *testing.T) {
	for in, code := range map[string]string{
		"":                        CodeMalformed,
		":443":                    CodeMalformed,
		".:443":                   CodeMalformed,
		"..:443":                  CodeMalformed,
		"a..b:443":                CodeMalformed,
		"a.b..:443":               CodeMalformed,
		"a.test":                  CodeMalformed,
		"a.test:":                 CodeMalformed,
		"a.test:0":                CodeMalformed,
		"a.test:00":               CodeMalformed,
		"a.test:０":                CodeMalformed,
		"a.test: 443":             CodeMalformed,
		"a.test:65536":            CodeMalformed,
		"a.test:443:1":            CodeMalformed,
		"-a.test:443":             CodeMalformed,
		"a-.test:443":             CodeMalformed,
		"a test:443":              CodeMalformed,
		"bücher.example:443":      CodeMalformed,
		"[::1]":                   CodeMalformed,
		"[::1]x:443":              CodeMalformed,
		"[::1]]:443":              CodeMalformed,
		"[[::1]]:443":             CodeMalformed,
		"[]:443":                  CodeMalformed,
		"[1.2.3.4]:443":           CodeMalformed,
		"[fe80::1%eth0]:443":      CodeMalformed,
		"[fe80::1%25eth0]:443":    CodeMalformed,
		"fe80::1:443":             CodeMalformed,
		"2130706433:443":          CodeNumericHost,
		"0x7f.1:443":              CodeNumericHost,
		"0x:443":                  CodeNumericHost,
		"1.2.3.4.:443":            CodeNumericHost,
		"1.2.3.04:443":            CodeNumericHost,
		"1.2.3.4.5:443":           CodeNumericHost,
		"256.1.1.1:443":           CodeNumericHost,
		"allowed.test.1:443":      CodeNumericHost,
		"allowed.test.0XfF:443":   CodeNumericHost,
		"169.254.43518:443":       CodeNumericHost,
		"7.7.7.017:443":           CodeNumericHost,
		strings.Repeat("a.", 127): CodeMalformed,
	} {
		_, err := ParseAuthority(in)
		var te *TargetError
		require.ErrorAs(t, err, &te, in)
		assert.Equal(t, code, te.Code, "%s: %v", in, err)
		assert.Less(t, len(err.Error()), 250)
	}
}

func TestParseHost(t *testing.T) {
	for in, want := range map[string]string{
		"allowed.test":       "allowed.test:443",
		" allowed.test:25 ":  "allowed.test:25",
		"Bücher.example":     "xn--bcher-kva.example:443",
		"bücher.example:80":  "xn--bcher-kva.example:80",
		"127.0.0.1":          "127.0.0.1:443",
		"::1":                "[::1]:443",
		"[::1]:8443":         "[::1]:8443",
		"xn--bcher-kva.test": "xn--bcher-kva.test:443",
	} {
		got, err := ParseHost(in, 443)
		require.NoError(t, err, in)
		assert.Equal(t, want, got.String())
	}
	for _, in := range []string{"https://x.test", "x.test/a", "u@x.test", "", "x.test:", "127.1", "fe80::1%eth0"} {
		_, err := ParseHost(in, 443)
		assert.Error(t, err, in)
	}
}
