package egress

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// Pin gives the hosts of a rule a fixed address: no look-up and no screen,
// since the operator chose the address. It permits nothing: the name has to
// be allowed as well. Without a port the rule covers every port.
type Pin struct {
	rule Rule
	addr netip.Addr
	port uint16 // 0: the port that was asked for
}

// PinError says what is wrong with the address of a pin.
type PinError struct {
	Rule, Literal, What string
}

func (e *PinError) Error() string {
	return fmt.Sprintf("pin %s to %s: %s", e.Rule, plain.Line(strconv.Quote(e.Literal), 100), e.What)
}

// ParsePin reads a rule and the literal address that its hosts are reached
// at: "127.0.0.1:8443", "[::1]:8443", "10.0.0.7" or "[fd00::7]", without a
// port for the one that was asked for. Errors are *RuleError and *PinError.
func ParsePin(rule, literal string) (Pin, error) {
	r, err := ParseRule(rule)
	if err != nil {
		return Pin{}, err
	}
	fault := func(what string) (Pin, error) {
		return Pin{}, &PinError{Rule: r.String(), Literal: literal, What: what}
	}
	if r.addr.IsValid() {
		return fault("a pin is for a name; the rule is an address")
	}
	t, err := parsePinned(strings.TrimSpace(literal))
	if err != nil {
		return fault(err.Error())
	}
	switch c := Classify(t.Addr); c {
	case ClassUnspecified, ClassMulticast, ClassInvalid:
		return fault(fmt.Sprintf("a %s address cannot be dialled", c))
	}
	return Pin{rule: r, addr: t.Addr, port: t.Port}, nil
}

// parsePinned leaves the port 0 when there is none.
func parsePinned(s string) (Target, error) {
	if b := bracketed(s); b != "" && !strings.Contains(s, "%") {
		s = b
	}
	host, port, hasPort, err := splitPort(s)
	if err != nil {
		return Target{}, err
	}
	t, err := parseBareHost(host)
	if err != nil || !t.Addr.IsValid() {
		return Target{}, fmt.Errorf("not an address in its usual spelling, as 127.0.0.1:8443 or [::1]:8443")
	}
	if hasPort {
		t.Port, err = parsePort(port)
	}
	return t, err
}

// String is a sentence part: RULE → ADDRESS.
func (p Pin) String() string {
	if p.port == 0 {
		return p.rule.String() + " → " + p.addr.String()
	}
	return p.rule.String() + " → " + netip.AddrPortFrom(p.addr, p.port).String()
}

func (p Pin) matches(t Target) bool { return p.rule.names(t) && p.rule.covers(t.Port) }

func (p Pin) to(t Target) netip.AddrPort {
	if p.port == 0 {
		return netip.AddrPortFrom(p.addr, t.Port)
	}
	return netip.AddrPortFrom(p.addr, p.port)
}

// closer is true when p says more about its hosts than q: an exact name beats
// a domain, a longer domain a shorter one, a port none.
func (p Pin) closer(q Pin) bool {
	if a, b := p.rule.reach == reachExact, q.rule.reach == reachExact; a != b {
		return a
	}
	if a, b := len(p.rule.name), len(q.rule.name); a != b {
		return a > b
	}
	return p.rule.port != 0 && q.rule.port == 0
}
