package egress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkedWorld has something of everything that decides.
func checkedWorld(t *testing.T) *world {
	w := newWorld(t, func(w *world) {
		w.rules = mustRules("www.allowed.test", ".wide.test", "*.below.test", "odd.test:8443", "both.test", "both.test:22", "pinned.test", "pinned.test:5432",
			"inward.test", "half.test", "mixed.test", "none.test", "docs.test", "192.0.2.9", "[2606:4700::9]:8443", "token.test:443", "plain.test:80", "denied.test")
		for _, r := range []string{"denied.test", "bad.wide.test", "worse.wide.test:22"} {
			rule, err := ParseRule(r)
			require.NoError(t, err)
			w.rules.Deny = append(w.rules.Deny, rule)
		}
		for rule, to := range map[string]string{"pinned.test": "127.0.0.1", "pinned.test:5432": "127.0.0.1:5433", "unlisted.test": "127.0.0.1:1"} {
			pin, err := ParsePin(rule, to)
			require.NoError(t, err)
			w.rules.Pins = append(w.rules.Pins, pin)
		}
		for _, host := range []string{"inward.test", "half.test"} {
			in, err := ParseInward(host, "10.1.0.0/16")
			require.NoError(t, err)
			w.rules.Inward = append(w.rules.Inward, in)
		}
		addr := netip.MustParseAddr
		w.answers = map[string][]netip.Addr{
			"inward.test.": {addr("10.1.2.3")}, "half.test.": {addr("10.1.2.3"), addr("10.2.2.3")}, "mixed.test.": {publicAddr, addr("::1")}, "none.test.": {},
			"in.wide.test.": {addr("169.254.169.254")}, "many.wide.test.": {publicAddr, addr("192.0.2.81"), addr("2606:4700::1")},
		}
		w.proxy.Credentials = func() (all []Credential) {
			for _, host := range []string{"token.test", "plain.test"} {
				all = append(all, Credential{host, "Authorization", func(context.Context) (Secret, error) { return "", errors.New("none") }})
			}
			return all
		}
	})
	return w
}

// TestACheckSaysWhatHappens asks about each target, and then lets a client try.
func TestACheckSaysWhatHappens(t *testing.T) {
	hosts := []string{
		"www.allowed.test", "allowed.test", "x.www.allowed.test", "wide.test", "a.wide.test", "bad.wide.test", "x.bad.wide.test", "worse.wide.test", "in.wide.test",
		"many.wide.test", "below.test", "a.below.test", "odd.test", "both.test", "pinned.test", "unlisted.test", "inward.test", "half.test", "mixed.test", "none.test",
		"docs.test", "denied.test", "token.test", "plain.test", "other.test", "wwwallowed.test", "localhost", "a.localhost", "metadata.google.internal",
		"192.0.2.9", "192.0.2.10", "10.0.0.1", "127.0.0.1", "169.254.169.254", "[2606:4700::9]", "[::1]", "[::ffff:192.0.2.9]", "[64:ff9b::7f00:1]", "WWW.Allowed.Test.",
	}
	for _, host := range hosts {
		for _, port := range []string{"443", "80", "22", "8443", "5432"} {
			w := checkedWorld(t)
			target := mustTarget(t, host+":"+port)
			rep := w.proxy.Check(t.Context(), target)
			_, dialled, _ := w.counts()
			require.Zero(t, dialled, "a check connects to nothing")
			brokered := host == "token.test" || host == "plain.test"
			for _, method := range []string{"CONNECT", "GET"} {
				if brokered && (port == "80") != (method == "GET") { // what goes on to another port, and a tunnel to this one
					continue
				}
				name := fmt.Sprintf("%s %s:%s", method, host, port)
				e := w.tried(method, host+":"+port)
				assert.Equal(t, e.Verdict, rep.Verdict, name)
				assert.Equal(t, []any{e.Host, e.Port, e.Rule}, []any{rep.Host, rep.Port, rep.Rule}, name)
				if e.Code == CodeCredential { // before it is looked up
					continue
				}
				assert.Equal(t, e.Code, rep.Code, name)
				assert.ElementsMatch(t, e.Addresses, rep.Addresses, name)
			}
		}
	}
}

// tried is what becomes of one request.
func (w *world) tried(method, authority string) Event {
	w.t.Helper()
	n := w.reported()
	text := fmt.Sprintf("CONNECT %s HTTP/1.1\r\n\r\n", authority)
	if method == "GET" {
		text = fmt.Sprintf("GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", authority, authority)
	}
	c := w.call(text)
	c.answerHead()
	c.Close()
	return w.waitEvent(n)
}
