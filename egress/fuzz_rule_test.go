package egress

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/publicsuffix"
)

// FuzzRule: a rule that is accepted prints as itself, matches what its text
// says and nothing else; what a refused one suggests is a rule.
func FuzzRule(f *testing.F) {
	seeds := append(texts(f), "x.test", ".x.test", "*.x.test:443", "*", "https://x.test", "https://me@x.test:81/a", "[2606:4700::1]:1", "a.*.b", ".co.uk", "*.github.io", "10.0.0.0/8")
	for i, s := range seeds {
		f.Add(s, seeds[(i*7)%len(seeds)])
		f.Add("."+s, "a."+s)
	}
	f.Fuzz(func(t *testing.T, s, host string) {
		r, err := ParseRule(s)
		if err != nil {
			checkSuggestion(t, err)
			return
		}
		again, err := ParseRule(r.String())
		require.NoError(t, err, "%q", s)
		require.Equal(t, r, again, "%q", s)
		if r.addr.IsValid() {
			checkAddressRule(t, r)
			return
		}
		checkNameRule(t, r)
		for _, h := range []string{host, host + "." + r.name, r.name + "." + host, host + r.name} {
			if target, err := ParseHost(h, 443); err == nil {
				checkMatch(t, r, target)
			}
		}
	})
}

func checkSuggestion(t *testing.T, err error) {
	var fault *RuleError
	require.True(t, errors.As(err, &fault), "%T", err)
	require.NotEmpty(t, fault.What)
	require.LessOrEqual(t, len(err.Error()), 700)
	if fault.Suggest != "" {
		r, err := ParseRule(fault.Suggest)
		require.NoError(t, err)
		require.Equal(t, fault.Suggest, r.String())
	}
}

func checkAddressRule(t *testing.T, r Rule) {
	require.Contains(t, []Class{ClassPublic, ClassDocumentation}, Classify(r.addr))
	require.True(t, r.names(Target{Addr: r.addr}))
	require.False(t, r.names(Target{Addr: r.addr.Next()}))
	require.False(t, r.names(Target{Name: "x.test"}))
}

// checkNameRule tries the hosts around the name of a rule.
func checkNameRule(t *testing.T, r Rule) {
	n := r.name
	require.Equal(t, r.reach != reachBelow, r.names(Target{Name: n}))
	require.Equal(t, r.reach != reachExact, r.names(Target{Name: "a." + n}))
	require.Equal(t, r.reach != reachExact, r.names(Target{Name: "a.b." + n}))
	_, parent, _ := strings.Cut(n, ".")
	for _, other := range []string{"localhost", "a" + n, "a-" + n, n + "a", n + ".test", parent, "a." + parent, ""} {
		require.False(t, other != n && other != "a."+n && r.names(Target{Name: other}), "%v names %q", r, other)
	}
	if r.reach != reachExact {
		require.Contains(t, n, ".")
	}
}

// checkMatch: a host that a rule names is its name or lies below it, and so
// belongs to whom the name belongs to.
func checkMatch(t *testing.T, r Rule, target Target) {
	at := target.Name == r.name
	below := strings.HasSuffix(target.Name, "."+r.name)
	want := at && r.reach != reachBelow || below && r.reach != reachExact
	require.Equal(t, want, r.names(target), "%v and %v", r, target)
	require.Equal(t, want && !isLocal(target.Name) && r.opens(target.Port), (&Rules{Allow: []Rule{r}}).Decide(target).Verdict == Allow)
	owner, err := publicsuffix.EffectiveTLDPlusOne(r.name)
	if want && err == nil {
		theirs, err := publicsuffix.EffectiveTLDPlusOne(target.Name)
		require.NoError(t, err)
		require.Equal(t, owner, theirs, "%v and %v", r, target)
	}
}
