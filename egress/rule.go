package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// reach is how far below its name a rule goes.
type reach uint8

const (
	reachExact reach = iota
	reachBelow       // *.domain
	reachApex        // .domain
)

// Rule names hosts: "host" is that host, ".domain" the domain and everything
// below, "*.domain" only what is below. ":port" narrows a rule to one port;
// without it an allow rule means 443 and 80, a deny rule every port. A public
// address in its usual spelling is a rule for exactly that address.
type Rule struct {
	reach reach
	name  string
	addr  netip.Addr
	port  uint16
}

// RuleError says what is wrong with a rule and, where that can be known, what
// would be right.
type RuleError struct {
	Rule    string // as it was given
	What    string
	Suggest string // a rule that could be meant, which ParseRule takes; or empty
}

func (e *RuleError) Error() string {
	s := fmt.Sprintf("rule %s: %s", plain.Line(strconv.Quote(e.Rule), 120), e.What)
	if e.Suggest != "" {
		s += fmt.Sprintf("; write %q", e.Suggest)
	}
	return s
}

// ParseRule reads one rule. White space around it, upper case and one final
// dot are forgiven; String gives the form that is used. A name outside ASCII
// becomes its A-label. A rule that could never match, or that would match
// everything, is a *RuleError.
func ParseRule(s string) (Rule, error) {
	r, err := parseRule(s)
	var fault *RuleError
	if errors.As(err, &fault) {
		fault.Suggest = usable(fault.Suggest)
	}
	return r, err
}

func parseRule(s string) (Rule, error) {
	text := strings.TrimSpace(s)
	if err := checkShape(text); err != nil {
		return Rule{}, err
	}
	r, rest := cutReach(text)
	host, port, hasPort, err := splitPort(rest)
	if err != nil {
		return Rule{}, &RuleError{Rule: s, What: err.Error(), Suggest: bracketed(rest)}
	}
	if hasPort {
		if r.port, err = parsePort(port); err != nil {
			return Rule{}, &RuleError{Rule: s, What: err.Error(), Suggest: text[:len(text)-len(port)-1]}
		}
	}
	return r.withHost(s, host)
}

func cutReach(s string) (Rule, string) {
	if rest, ok := strings.CutPrefix(s, "*."); ok {
		return Rule{reach: reachBelow}, rest
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		return Rule{reach: reachApex}, rest
	}
	return Rule{}, s
}

func (r Rule) withHost(s, host string) (Rule, error) {
	ascii, err := toASCII(host)
	if err != nil {
		return Rule{}, &RuleError{Rule: s, What: err.Error()}
	}
	t, err := parseBareHost(ascii)
	if err != nil {
		return Rule{}, r.hostFault(s, ascii, err)
	}
	if t.Addr.IsValid() {
		return r.withAddr(s, ascii, t.Addr)
	}
	r.name = t.Name
	return r, r.checkName(s)
}

func (r Rule) withAddr(s, host string, a netip.Addr) (Rule, error) {
	exact := Rule{addr: a, port: r.port}
	switch c := Classify(a); {
	case c != ClassPublic && c != ClassDocumentation:
		return Rule{}, &RuleError{Rule: s, What: fmt.Sprintf("%s is a %s address, which is never reached by address; allow a name and pin it there", a, c)}
	case r.reach != reachExact:
		return Rule{}, &RuleError{Rule: s, What: "nothing lies below an address", Suggest: exact.String()}
	case Rule{addr: a}.String() != host:
		return Rule{}, &RuleError{Rule: s, What: "the address is not in its usual spelling", Suggest: exact.String()}
	}
	return exact, nil
}

func (r Rule) checkName(s string) error {
	switch {
	case isLocal(r.name):
		return &RuleError{Rule: s, What: "loopback is never proxied, so this rule could not match; pin another name to the address, or forward the port"}
	case isMetadata(r.name):
		return &RuleError{Rule: s, What: "a cloud's metadata service, which hands out the machine's credentials, is never reached, so this rule could not match"}
	case r.reach != reachExact && !strings.Contains(r.name, "."):
		return &RuleError{Rule: s, What: fmt.Sprintf("everything below %q is too broad; name a domain of at least two labels", r.name)}
	}
	return nil
}

// String is the normal form; ParseRule(r.String()) gives r again.
func (r Rule) String() string {
	host := r.name
	switch {
	case r.addr.Is6():
		host = "[" + r.addr.String() + "]"
	case r.addr.IsValid():
		host = r.addr.String()
	case r.reach == reachBelow:
		host = "*." + host
	case r.reach == reachApex:
		host = "." + host
	}
	if r.port != 0 {
		host += ":" + strconv.Itoa(int(r.port))
	}
	return host
}

// names is true when the rule is about this host, whatever the port.
func (r Rule) names(t Target) bool {
	if r.addr.IsValid() || t.Addr.IsValid() {
		return r.addr.IsValid() && r.addr == t.Addr
	}
	if r.name == "" {
		return false
	}
	below := strings.HasSuffix(t.Name, "."+r.name)
	switch r.reach {
	case reachBelow:
		return below
	case reachApex:
		return below || t.Name == r.name
	default:
		return t.Name == r.name
	}
}

// opens is true when the rule, as an allow rule, covers the port.
func (r Rule) opens(port uint16) bool {
	if r.port == 0 {
		return port == 443 || port == 80
	}
	return r.port == port
}

// covers is true when the rule, as a deny rule or a pin, covers the port.
func (r Rule) covers(port uint16) bool { return r.port == 0 || r.port == port }
