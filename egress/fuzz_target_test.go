package egress

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// texts are what the corpus and the tables of tests have for targets, rules
// and hosts.
func texts(f *testing.F) []string {
	out := []string{
		"x.test:443", "X.Test.:80", "[2606:4700::1]:443", "[::ffff:192.0.2.7]:1", "[fe80::1%25eth0]:443", "0x7f.1:443", "017700000001:443", "2130706433:443", "1.2.3.4.:443",
		"192.0.2.7:80", "_dns.x.test:53", "xn--bcher-kva.example:443", "bücher.example", "allowed。test:443", "x.localhost:80", "metadata.google.internal:80",
	}
	for _, row := range corpus(f) {
		for _, line := range strings.Split(string(row.Raw), "\r\n") {
			if fields := strings.Fields(line); len(fields) > 1 {
				out = append(out, fields[1])
			}
			if _, rest, ok := strings.Cut(line, "http://"); ok {
				authority, _, _ := strings.Cut(rest, "/")
				out = append(out, authority)
			}
		}
	}
	return out
}

// FuzzTarget: a target that is accepted says the same when it is read again,
// is the one that other readers of the same text find, and a name is never
// something that a dialler takes for an address.
func FuzzTarget(f *testing.F) {
	for _, s := range texts(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := ParseAuthority(s)
		if err != nil {
			var te *TargetError
			require.ErrorAs(t, err, &te)
			require.Contains(t, []string{CodeMalformed, CodeNumericHost}, te.Code)
			require.LessOrEqual(t, len(err.Error()), 400)
			return
		}
		checkTargetForm(t, target)
		host, port, err := net.SplitHostPort(s)
		require.NoError(t, err)
		requireSameTarget(t, target, host, port)
		if u, err := url.Parse("http://" + s + "/"); err == nil {
			requireSameTarget(t, target, u.Hostname(), u.Port())
		}
		for _, other := range []string{target.String(), strings.ToUpper(s), " " + s + "\n"} {
			again, err := ParseHost(other, 9)
			require.NoError(t, err, "%q", other)
			require.Equal(t, target, again, "%q", other)
		}
		plain, bare, err := plainTarget(s)
		require.True(t, bare && err == nil && plain == target, "%q in http://: %v %v %v", s, plain, bare, err)
		if r, err := ParseRule(target.String()); err == nil {
			require.Equal(t, target.String(), r.String())
			require.Equal(t, Allow, (&Rules{Allow: []Rule{r}}).Decide(target).Verdict)
		}
	})
}

func checkTargetForm(t *testing.T, target Target) {
	require.NotZero(t, target.Port)
	if target.Addr.IsValid() {
		require.Empty(t, target.Name)
		require.False(t, target.Addr.Is4In6() || target.Addr.Zone() != "", "%v", target.Addr)
		return
	}
	name := target.Name
	require.NotEmpty(t, name)
	require.LessOrEqual(t, len(name), maxName)
	require.Empty(t, strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_."))
	for _, spelling := range []string{name, name + "."} {
		_, err := netip.ParseAddr(spelling)
		require.Error(t, err, spelling)
		_, loose := looseQuad(spelling)
		require.False(t, loose, spelling)
	}
	for label := range strings.SplitSeq(name, ".") {
		require.NoError(t, checkLabel(label))
	}
}

// requireSameTarget: what another reader makes of the same text is this target.
func requireSameTarget(t *testing.T, target Target, host, port string) {
	if port == "" {
		port = "80"
	}
	require.Equal(t, strconv.Itoa(int(target.Port)), port)
	if target.Addr.IsValid() {
		a, err := netip.ParseAddr(host)
		require.NoError(t, err)
		require.Equal(t, target.Addr, a.Unmap())
		return
	}
	require.Equal(t, target.Name, strings.ToLower(strings.TrimSuffix(host, ".")))
}
