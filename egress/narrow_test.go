package egress

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parsed(t *testing.T, rule string) Rule {
	t.Helper()
	r, err := ParseRule(rule)
	require.NoError(t, err)
	return r
}

func TestWhatTwoRulesBothOpen(t *testing.T) {
	for _, c := range [][3]string{
		{"a.test.org", "a.test.org", "a.test.org"},
		{"a.test.org", "b.test.org", ""},
		{"a.test.org", ".test.org", "a.test.org"},
		{"test.org", ".test.org", "test.org"},
		{"test.org", "*.test.org", ""},
		{"xtest.org", ".test.org", ""},
		{".test.org", "*.test.org", "*.test.org"},
		{"*.test.org", "*.test.org", "*.test.org"},
		{".a.test.org", "*.test.org", ".a.test.org"},
		{"*.a.test.org", ".test.org", "*.a.test.org"},
		{".a.test.org", ".b.test.org", ""},
		{"a.test.org:443", "a.test.org", "a.test.org:443"},
		{"a.test.org:8443", "a.test.org", ""},
		{"a.test.org:8443", ".test.org:8443", "a.test.org:8443"},
		{"a.test.org:80", ".test.org:443", ""},
		{"192.0.2.7", "192.0.2.7:80", "192.0.2.7:80"},
		{"192.0.2.7", "192.0.2.8", ""},
		{"192.0.2.7", ".test.org", ""},
	} {
		a, b := parsed(t, c[0]), parsed(t, c[1])
		for _, pair := range [][2]Rule{{a, b}, {b, a}} {
			got, ok := pair[0].Narrow(pair[1])
			require.Equal(t, c[2] != "", ok, "%v and %v", pair[0], pair[1])
			if ok {
				assert.Equal(t, c[2], got.String(), "%v and %v", pair[0], pair[1])
			}
		}
	}
}

// TestNarrowOpensWhatBothOpen: for every target, the result decides as both rules together do.
func TestNarrowOpensWhatBothOpen(t *testing.T) {
	var rules []Rule
	var targets []Target
	for _, host := range []string{"org.test", "a.org.test", "b.a.org.test", "c.org.test", "192.0.2.7"} {
		for _, reach := range []string{"", ".", "*."} {
			for _, port := range []string{"", ":443", ":80", ":8443"} {
				if r, err := ParseRule(reach + host + port); err == nil {
					rules = append(rules, r)
				}
			}
		}
		for _, port := range []uint16{80, 443, 8443, 22} {
			target, err := ParseHost(host, port)
			require.NoError(t, err)
			targets = append(targets, target)
		}
	}
	opens := func(r Rule, t Target) bool { return r.names(t) && r.opens(t.Port) }
	for _, a := range rules {
		for _, b := range rules {
			both, ok := a.Narrow(b)
			for _, target := range targets {
				require.Equal(t, opens(a, target) && opens(b, target), ok && opens(both, target), "%v and %v for %v", a, b, target)
			}
		}
	}
}

func TestInwardWithin(t *testing.T) {
	inward := func(host, prefix string) Inward {
		i, err := ParseInward(host, prefix)
		require.NoError(t, err)
		return i
	}
	bound := inward("db.lab.test", "10.1.0.0/16")
	assert.True(t, inward("db.lab.test", "10.1.0.0/16").Within(bound))
	assert.True(t, inward("db.lab.test", "10.1.2.0/24").Within(bound))
	assert.False(t, inward("db.lab.test", "10.0.0.0/8").Within(bound))
	assert.False(t, inward("db.lab.test", "10.2.0.0/24").Within(bound))
	assert.False(t, inward("other.lab.test", "10.1.2.0/24").Within(bound))
}
