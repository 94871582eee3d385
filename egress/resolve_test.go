package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func addrs(list ...string) []netip.Addr {
	out := []netip.Addr{}
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

// One inward record refuses the whole answer, and nothing is dialled.
func TestEveryAddressIsScreened(t *testing.T) {
	hundred := addrs()
	for i := range 99 {
		hundred = append(hundred, netip.MustParseAddr(fmt.Sprintf("198.51.100.%d", i)))
	}
	hundred = append(hundred, netip.MustParseAddr("10.0.0.1"))
	for name, answer := range map[string][]netip.Addr{
		"mixed":        addrs("93.184.216.34", "10.0.0.1"),
		"mixed-family": addrs("93.184.216.34", "::1"),
		"mapped":       addrs("::ffff:127.0.0.1"),
		"nat64":        addrs("64:ff9b::7f00:1"),
		"6to4":         addrs("2002:7f00:1::"),
		"teredo":       addrs("2001:0:7f00:1::80ff:fffe"),
		"compat":       addrs("::127.0.0.1"),
		"metadata":     addrs("169.254.169.254"),
		"zone":         addrs("fe80::1%eth0"),
		"public zone":  addrs("2606:4700::1%eth0"),
		"invalid":      {netip.Addr{}},
		"last of many": hundred,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(w *world) { w.answers["allowed.test."] = answer })
			resp, _ := w.call(connectAllowed).answer()
			assert.Equal(t, 403, resp.StatusCode)
			assert.Contains(t, resp.Status, "allowed.test leads to")
			assert.Contains(t, resp.Header.Get("X-Kernel-Launch-Deny"), "code=inward-address; host=allowed.test; rule=.allowed.test")
			looked, dialled, _ := w.counts()
			assert.Equal(t, [2]int{1, 0}, [2]int{looked, dialled})
			assert.Len(t, w.waitEvent(0).Addresses, len(answer))
		})
	}
}

// A name that answers differently the second time is never asked twice.
func TestRebindingGetsOneLookUp(t *testing.T) {
	for _, raw := range []string{connectAllowed, "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n"} {
		w := newWorld(t, func(w *world) { w.answers["allowed.test."] = addrs("198.51.100.9") })
		inner := w.proxy.Dial
		w.proxy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			w.mu.Lock()
			w.answers["allowed.test."] = addrs("127.0.0.1")
			w.mu.Unlock()
			return inner(ctx, network, address)
		}
		c := w.call(raw)
		line, _ := c.answerHead()
		assert.Contains(t, line, "200")
		assert.Equal(t, []string{"allowed.test."}, w.looked)
		assert.True(t, strings.HasPrefix(w.dialled[0], "198.51.100.9:"))
	}
}

// At most four addresses are dialled, in turns between the families, and the
// first that answers is taken.
func TestAtMostFourAreDialled(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.answers["allowed.test."] = addrs("2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1", "192.0.2.2", "192.0.2.3")
		w.origin = "127.0.0.1:1"
	})
	resp, _ := w.call(connectAllowed).answer()
	assert.Equal(t, 502, resp.StatusCode)
	assert.Equal(t, []string{"[2001:db8::1]:443", "192.0.2.1:443", "[2001:db8::2]:443", "192.0.2.2:443"}, w.dialled)
	assert.Equal(t, []string{"allowed.test."}, w.looked, "a failure is no reason to look again")
}

func TestASlowAddressDoesNotHoldUpTheNext(t *testing.T) {
	w := newWorld(t, func(w *world) { w.answers["allowed.test."] = addrs("192.0.2.1", "192.0.2.2") })
	inner := w.proxy.Dial
	ended := make(chan struct{}, 1)
	w.proxy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "192.0.2.1:") {
			<-ctx.Done()
			ended <- struct{}{}
			return nil, ctx.Err()
		}
		return inner(ctx, network, address)
	}
	w.call(connectAllowed).opened()
	select {
	case <-ended:
	default:
		t.Fatal("the losing attempt goes on")
	}
}

type failing struct{ err error }

func (f failing) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, f.err
}

type slowResolver struct{}

func (slowResolver) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestLookUpsThatFailAreClosed(t *testing.T) {
	for code, c := range map[string]struct {
		resolver Resolver
		status   int
	}{
		CodeNoAddress:     {failing{&net.DNSError{IsNotFound: true}}, 502},
		CodeLookupFailed:  {failing{&net.DNSError{Err: "server misbehaving", IsTemporary: true}}, 502},
		CodeLookupTimeout: {slowResolver{}, 504},
	} {
		w := newWorld(t, func(w *world) { w.proxy.Resolver = c.resolver; w.proxy.Bounds.Dial = 100 * time.Millisecond })
		resp, body := w.call(connectAllowed).answer()
		assert.Equal(t, c.status, resp.StatusCode)
		assert.Contains(t, body, `"code":"`+code+`"`)
		_, dialled, _ := w.counts()
		assert.Zero(t, dialled)
	}
	w := newWorld(t, func(w *world) { w.proxy.Resolver = failing{} })
	resp, _ := w.call(connectAllowed).answer()
	assert.Equal(t, 502, resp.StatusCode, "an empty answer")
}

// The real dialler: a name that means this machine is refused though a rule
// lets it pass, a pinned one is reached.
func TestRealDialler(t *testing.T) {
	w := newWorld(t, func(w *world) { w.proxy.Dial = nil; w.answers["rebound.allowed.test."] = addrs("127.0.0.1") })
	pin, err := ParsePin("allowed.test", w.origin)
	require.NoError(t, err)
	w.rules.Pins = []Pin{pin}
	resp, body := w.call("GET http://allowed.test/x HTTP/1.1\r\nHost: y\r\n\r\n").answer()
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, "origin answers /x", body)
	looked, _, _ := w.counts()
	assert.Zero(t, looked, "a pin is not looked up")
	e := w.waitEvent(0)
	assert.Equal(t, CodePinned, e.Code)
	assert.Equal(t, addrs("127.0.0.1"), e.Addresses)

	resp, _ = w.call("GET http://rebound.allowed.test/x HTTP/1.1\r\nHost: y\r\n\r\n").answer()
	assert.Equal(t, 403, resp.StatusCode)

	resp, _ = w.call("CONNECT localhost:443 HTTP/1.1\r\n\r\n").answer()
	assert.Equal(t, 403, resp.StatusCode)
}

func TestControlIsTheLastLook(t *testing.T) {
	rules := mustRules("x.test")
	public, inward := netip.MustParseAddrPort("192.0.2.1:443"), netip.MustParseAddrPort("127.0.0.1:443")
	free := &trip{rules: rules, target: Target{Name: "x.test", Port: 443}}
	pinned := &trip{rules: rules, target: free.target, d: Decision{Pin: inward}}
	ctx := t.Context()
	assert.NoError(t, free.control(public)(ctx, "tcp4", "192.0.2.1:443", nil))
	assert.NoError(t, free.control(public)(ctx, "tcp6", "[::ffff:192.0.2.1]:443", nil))
	assert.NoError(t, pinned.control(inward)(ctx, "tcp4", "127.0.0.1:443", nil))
	assert.Error(t, free.control(inward)(ctx, "tcp4", "127.0.0.1:443", nil), "the screen again")
	for _, a := range []string{"", "x.test:443", "192.0.2.2:443", "192.0.2.1:80", "127.0.0.1%x.test:443", "[fe80::1%1]:443", "192.0.2.1"} {
		assert.Error(t, free.control(public)(ctx, "tcp4", a, nil), a)
		assert.Error(t, pinned.control(inward)(ctx, "tcp4", a, nil), a)
	}
}

func TestInwardHost(t *testing.T) {
	w := newWorld(t, func(w *world) { w.answers["allowed.test."] = addrs("10.20.3.4") })
	i, err := ParseInward("allowed.test", "10.20.0.0/16")
	require.NoError(t, err)
	w.rules.Inward = []Inward{i}
	w.call(connectAllowed).opened()
	assert.Equal(t, []string{"10.20.3.4:443"}, w.dialled)
}

func TestCheck(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.answers["in.allowed.test."] = addrs("10.0.0.1")
		w.answers["none.allowed.test."] = addrs()
	})
	for host, want := range map[string]Report{
		"api.allowed.test":  {Host: "api.allowed.test", Port: 443, Verdict: Allow, Code: CodeAllowed, Rule: ".allowed.test", Addresses: addrs("192.0.2.80")},
		"allowed.test:25":   {Host: "allowed.test", Port: 25, Code: CodePortNotListed, Rule: ".allowed.test", Addresses: addrs()},
		"other.test":        {Host: "other.test", Port: 443, Code: CodeNotListed, Addresses: addrs()},
		"127.0.0.1":         {Host: "127.0.0.1", Port: 443, Code: CodeAddressLiteral, Addresses: addrs()},
		"in.allowed.test":   {Host: "in.allowed.test", Port: 443, Code: CodeInwardAddress, Rule: ".allowed.test", Addresses: addrs("10.0.0.1")},
		"none.allowed.test": {Host: "none.allowed.test", Port: 443, Verdict: Allow, Code: CodeNoAddress, Rule: ".allowed.test", Addresses: addrs()},
	} {
		assert.Equal(t, want, w.proxy.Check(t.Context(), mustTarget(t, host)), host)
	}
	assert.NotContains(t, w.looked, "other.test.")
	_, dialled, _ := w.counts()
	assert.Zero(t, dialled)
}
