package egress

import (
	"net"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a name leads to decides, not how it looks: names with an address in
// them, names of metadata services under a wide rule, a name of one label.
func TestNamesThatLeadInward(t *testing.T) {
	for host, answer := range map[string]string{
		"169.254.169.254.nip.allowed.test": "169.254.169.254",
		"10-0-0-1.allowed.test":            "10.0.0.1",
		"localhost.allowed.test":           "127.0.0.1",
		"metadata.allowed.test":            "fd00:ec2::254",
		"ip6-localhost":                    "::1",
		"metadata":                         "169.254.169.254",
		"_gateway":                         "192.168.1.1",
	} {
		w := newWorld(t, func(w *world) {
			w.rules = mustRules(".allowed.test", "ip6-localhost", "metadata", "_gateway")
			w.answers[host+"."] = addrs(answer)
		})
		w.requireVerdict(t, Target{Name: host, Port: 443}, netip.MustParseAddr(answer), false)
		for _, looked := range w.looked {
			assert.Equal(t, host+".", looked, "no search domain is ever tried")
		}
	}
}

// The names of metadata services are refused by name, whatever they lead to
// and whoever would look them up.
func TestMetadataNames(t *testing.T) {
	for _, name := range append([]string{"x.metadata.google.internal"}, metadataNames...) {
		front := listen(t, func(*net.TCPConn) { t.Error("the proxy in front was asked") })
		w := newWorld(t, func(w *world) {
			w.rules = &Rules{Allow: []Rule{{name: name}, {name: "internal", reach: reachBelow}}}
			w.rules.Pins = []Pin{{rule: Rule{name: name}, addr: publicAddr}}
			w.proxy.Upstream = func(Target) (*url.URL, error) { return &url.URL{Scheme: "http", Host: front}, nil }
		})
		for _, raw := range []string{"CONNECT " + name + ":443 HTTP/1.1\r\n\r\n", get("http://" + name + "./computeMetadata/v1/")} {
			resp, body := w.call(raw).answer()
			assert.Equal(t, 403, resp.StatusCode)
			assert.Contains(t, body, `"code":"metadata-name"`)
		}
		looked, dialled, _ := w.counts()
		assert.Zero(t, looked+dialled)
		_, err := ParseRule(name)
		assert.ErrorContains(t, err, "never reached")
	}
	assert.Equal(t, Allow, mustRules("mymetadata.google.internal").Decide(Target{Name: "mymetadata.google.internal", Port: 443}).Verdict)
}

// elsewhere is a listener that says to listen at another address.
type elsewhere struct {
	net.Listener
	at net.Addr
}

func (e elsewhere) Addr() net.Addr { return e.at }

// A name that leads to where the proxy listens would have it talk to itself.
// The same address on another port is another server.
func TestOwnAddress(t *testing.T) {
	for _, at := range []string{"192.0.2.80:3128", "[2001:db8::80]:3128"} {
		own := netip.MustParseAddrPort(at)
		w := newWorld(t, func(w *world) {
			w.rules = mustRules("allowed.test:3128", "allowed.test:3129")
			w.answers["allowed.test."] = []netip.Addr{own.Addr()}
		})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go w.proxy.Serve(elsewhere{l, net.TCPAddrFromAddrPort(own)})
		require.Eventually(t, func() bool { return w.proxy.own(own) }, 5*time.Second, time.Millisecond)
		resp, _ := w.call("CONNECT allowed.test:3128 HTTP/1.1\r\n\r\n").answer()
		assert.Equal(t, "403 allowed.test leads to "+at+", where this proxy listens itself", resp.Status)
		assert.Equal(t, CodeInwardAddress, w.waitEvent(0).Code)
		_, dialled, _ := w.counts()
		assert.Zero(t, dialled)
		w.call("CONNECT allowed.test:3129 HTTP/1.1\r\n\r\n").opened()
	}
}

// A proxy that listens on every address is found at each that the machine has.
func TestOwnAddressOfAWildcard(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{}
	go p.Serve(elsewhere{l, &net.TCPAddr{IP: net.IPv6unspecified, Port: 3128}})
	t.Cleanup(func() { p.Close() })
	require.Eventually(t, func() bool { return p.own(netip.MustParseAddrPort("127.0.0.1:3128")) }, 5*time.Second, time.Millisecond)
	assert.False(t, p.own(netip.MustParseAddrPort("192.0.2.80:3128")))
	assert.False(t, p.own(netip.MustParseAddrPort("127.0.0.1:3129")))
}
