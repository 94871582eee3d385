package egress

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// classRows holds, for every range that is not plainly public, its borders
// and what is known to stand inside, and beside it what a dialler may reach.
var classRows = []struct {
	row   string
	class Class
	addrs []string
}{
	{"127.0.0.0/8", ClassLoopback, []string{"127.0.0.0", "127.0.0.1", "127.0.0.53", "127.255.255.255"}},
	{"10.0.0.0/8", ClassPrivate, []string{"10.0.0.0", "10.255.255.255"}},
	{"172.16.0.0/12", ClassPrivate, []string{"172.16.0.0", "172.17.0.1", "172.31.255.255"}},
	{"192.168.0.0/16", ClassPrivate, []string{"192.168.0.0", "192.168.255.255"}},
	{"169.254.0.0/16", ClassLinkLocal, []string{"169.254.0.0", "169.254.42.42", "169.254.170.2", "169.254.255.255"}},
	{"169.254.169.254", ClassMetadata, []string{"169.254.169.254"}},
	{"100.64.0.0/10", ClassShared, []string{"100.64.0.0", "100.127.255.255"}},
	{"100.100.100.200", ClassMetadata, []string{"100.100.100.200"}},
	{"0.0.0.0", ClassUnspecified, []string{"0.0.0.0"}},
	{"0.0.0.0/8", ClassUnspecified, []string{"0.0.0.1", "0.255.255.255"}},
	{"192.0.0.0/24", ClassReserved, []string{"192.0.0.0", "192.0.0.9", "192.0.0.255"}},
	{"192.0.0.192", ClassMetadata, []string{"192.0.0.192"}},
	{"192.0.2.0/24", ClassDocumentation, []string{"192.0.2.0", "192.0.2.255"}},
	{"198.51.100.0/24", ClassDocumentation, []string{"198.51.100.0", "198.51.100.255"}},
	{"203.0.113.0/24", ClassDocumentation, []string{"203.0.113.0", "203.0.113.255"}},
	{"192.88.99.0/24", ClassEmbedded, []string{"192.88.99.0", "192.88.99.1", "192.88.99.255"}},
	{"198.18.0.0/15", ClassBenchmark, []string{"198.18.0.0", "198.19.255.255"}},
	{"224.0.0.0/4", ClassMulticast, []string{"224.0.0.0", "239.255.255.255"}},
	{"255.255.255.255", ClassReserved, []string{"255.255.255.255"}},
	{"240.0.0.0/4", ClassReserved, []string{"240.0.0.0", "255.255.255.254"}},
	{"168.63.129.16", ClassMetadata, []string{"168.63.129.16"}},
	{"::1", ClassLoopback, []string{"::1"}},
	{"::", ClassUnspecified, []string{"::"}},
	{"fc00::/7", ClassPrivate, []string{"fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{"metadata in fc00::/7", ClassMetadata, []string{"fd00:ec2::254", "fd00:ec2::253", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42"}},
	{"fe80::/10", ClassLinkLocal, []string{"fe80::", "fe80::1", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{"ff00::/8", ClassMulticast, []string{"ff00::", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{"::ffff:0:0/96, loopback", ClassLoopback, []string{"::ffff:127.0.0.1", "::ffff:7f00:1"}},
	{"::ffff:0:0/96, private", ClassPrivate, []string{"::ffff:10.0.0.1"}},
	{"::ffff:0:0/96, metadata", ClassMetadata, []string{"::ffff:169.254.169.254", "::ffff:168.63.129.16"}},
	{"::ffff:0:0/96, public", ClassPublic, []string{"::ffff:93.184.216.34"}},
	{"::/96", ClassEmbedded, []string{"::127.0.0.1", "::a9fe:a9fe", "::93.184.216.34", "::2"}},
	{"::ffff:0:0:0/96", ClassEmbedded, []string{"::ffff:0:127.0.0.1", "::ffff:0:93.184.216.34"}},
	{"64:ff9b::/96", ClassEmbedded, []string{"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::5db8:d822"}},
	{"64:ff9b:1::/48", ClassEmbedded, []string{"64:ff9b:1::", "64:ff9b:1:ffff::7f00:1"}},
	{"2002::/16", ClassEmbedded, []string{"2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:5db8:d822::1"}},
	{"2001::/32", ClassEmbedded, []string{"2001::", "2001:0:7f00:1::80ff:fffe"}},
	{"2001:2::/48", ClassReserved, []string{"2001:2::", "2001:2:0:ffff::1"}},
	{"2001:10::/28", ClassReserved, []string{"2001:10::", "2001:1f:ffff::1"}},
	{"2001:20::/28", ClassReserved, []string{"2001:20::", "2001:2f:ffff::1"}},
	{"2001:db8::/32", ClassDocumentation, []string{"2001:db8::", "2001:db8:ffff::1"}},
	{"100::/64", ClassReserved, []string{"100::", "100::1", "100:0:0:1::1"}},
	{"3fff::/20", ClassReserved, []string{"3fff::", "3fff:fff::1"}},
	{"5f00::/16", ClassReserved, []string{"5f00::", "5f00:ffff::1"}},
	{"fec0::/10", ClassReserved, []string{"fec0::", "feff::1"}},
	{"beyond 2000::/3", ClassReserved, []string{"1::1", "4000::1", "a000::1", "fbff::1"}},
	{"public", ClassPublic, []string{
		"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255",
		"169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1", "3ffe::1", "3fff:1000::1",
	}},
}

// rowPasses says what has to become of an address that a name leads to.
func rowPasses(c Class, screen Screen) bool {
	return c == ClassPublic || c == ClassDocumentation && screen != ScreenStrict
}

func eachRow(t *testing.T, use func(t *testing.T, a netip.Addr, c Class)) {
	for _, r := range classRows {
		t.Run(r.row, func(t *testing.T) {
			for _, s := range r.addrs {
				use(t, netip.MustParseAddr(s), r.class)
			}
		})
	}
}

// Written as an address, a host is never reached by a rule about names; and a
// rule about an address can be had for a public one alone.
func TestEveryRowAsALiteral(t *testing.T) {
	w := newWorld(t)
	eachRow(t, func(t *testing.T, a netip.Addr, c Class) {
		assert.Equal(t, c, Classify(a), a)
		host := netip.AddrPortFrom(a, 443).String()
		for _, raw := range []string{"CONNECT " + host + " HTTP/1.1\r\n\r\n", get("http://" + host + "/")} {
			resp, body := w.call(raw).answer()
			assert.Equal(t, 403, resp.StatusCode, host)
			assert.Contains(t, body, `"code":"address-literal"`, host)
		}
		_, err := ParseRule((Rule{addr: a.Unmap()}).String())
		assert.Equal(t, rowPasses(c, ScreenNormal), err == nil, "a rule for %s: %v", a, err)
	})
	looked, dialled, _ := w.counts()
	assert.Zero(t, looked+dialled)
}

// A rule that names an address outright, which no text makes, still meets the
// screen.
func TestEveryRowAsARule(t *testing.T) {
	eachRow(t, func(t *testing.T, a netip.Addr, c Class) {
		a = a.Unmap()
		w := newWorld(t, func(w *world) { w.rules = &Rules{Allow: []Rule{{addr: a}}} })
		w.requireVerdict(t, Target{Addr: a, Port: 443}, a, rowPasses(c, ScreenNormal))
	})
}

// A name that leads to an address is reached when the address is public, by
// CONNECT as by http://, and Check says the same.
func TestEveryRowByName(t *testing.T) {
	for _, screen := range []Screen{ScreenNormal, ScreenStrict} {
		t.Run(string(screen), func(t *testing.T) {
			eachRow(t, func(t *testing.T, a netip.Addr, c Class) {
				w := newWorld(t, func(w *world) { w.answers["allowed.test."] = []netip.Addr{a}; w.rules.Screen = screen })
				w.requireVerdict(t, Target{Name: "allowed.test", Port: 443}, a, rowPasses(c, screen))
			})
		})
	}
}

// requireVerdict asks for t, whose address is a, in every way.
func (w *world) requireVerdict(t *testing.T, target Target, a netip.Addr, pass bool) {
	t.Helper()
	report := w.proxy.Check(t.Context(), target)
	assert.Equal(t, pass, report.Verdict == Allow, "check of %s", a)
	http := Target{Name: target.Name, Addr: target.Addr, Port: 80}
	for _, raw := range []string{fmt.Sprintf("CONNECT %s HTTP/1.1\r\n\r\n", target), get("http://" + http.String() + "/")} {
		resp, err := w.call(raw).answerHead()
		require.NoError(t, err)
		_, dialled, _ := w.counts()
		if pass {
			assert.Contains(t, resp, " 200 ", a)
			assert.Equal(t, a.Unmap(), netip.MustParseAddrPort(w.dialled[dialled-1]).Addr())
			continue
		}
		assert.Contains(t, resp, fmt.Sprintf(" 403 %s leads to %s, a %s address", target.Host(), a.Unmap(), Classify(a)))
		assert.Zero(t, dialled, a)
	}
}
