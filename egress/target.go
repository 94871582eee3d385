package egress

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// Target is where a connection wants to go. Exactly one of Name and Addr is
// set. Name is lower-case ASCII labels without a final dot; Addr is never a
// mapped or zoned address.
type Target struct {
	Name string
	Addr netip.Addr
	Port uint16
}

// Host is the name or the address, without brackets.
func (t Target) Host() string {
	if t.Addr.IsValid() {
		return t.Addr.String()
	}
	return t.Name
}

// String is HOST:PORT as a client writes it.
func (t Target) String() string {
	return net.JoinHostPort(t.Host(), strconv.Itoa(int(t.Port)))
}

// TargetError says why a text is no target.
type TargetError struct {
	Text string
	What string
	// Code is CodeNumericHost when the text is a number that other programs
	// would dial, CodeMalformed otherwise.
	Code string
}

func (e *TargetError) Error() string {
	return fmt.Sprintf("target %s: %s", plain.Line(strconv.QuoteToASCII(e.Text), 100), e.What)
}

// ParseAuthority reads the target of a CONNECT request: HOST:PORT, the port
// required, nothing else. Errors are *TargetError.
func ParseAuthority(s string) (Target, error) {
	return parseTarget(s, 0)
}

// ParseHost reads HOST[:PORT] as a person writes it; without a port it is
// port. A name outside ASCII becomes its A-label here and nowhere later, and
// an IPv6 address may stand without brackets. Errors are *TargetError.
func ParseHost(s string, port uint16) (Target, error) {
	s = strings.TrimSpace(s)
	if strings.Contains(s, "://") {
		return Target{}, &TargetError{Text: s, What: "a URL is no host; leave out the scheme and the path", Code: CodeMalformed}
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Is6() && port != 0 {
		s = "[" + s + "]"
	}
	ascii, err := toASCII(s)
	if err != nil {
		return Target{}, &TargetError{Text: s, What: err.Error(), Code: CodeMalformed}
	}
	return parseTarget(ascii, port)
}

// parseTarget is the only place that turns text into a Target. defaultPort 0
// means that a port is required.
func parseTarget(s string, defaultPort uint16) (Target, error) {
	host, port, hasPort, err := splitPort(s)
	if err != nil {
		return Target{}, &TargetError{Text: s, What: err.Error(), Code: CodeMalformed}
	}
	t, err := parseBareHost(host)
	if err != nil {
		return Target{}, err
	}
	t.Port = defaultPort
	if hasPort || defaultPort == 0 {
		if t.Port, err = parsePort(port); err != nil {
			return Target{}, &TargetError{Text: s, What: err.Error(), Code: CodeMalformed}
		}
	}
	return t, nil
}

// splitPort cuts HOST:PORT at the colon that is not part of a bracketed
// address. The brackets stay on the host.
func splitPort(s string) (host, port string, hasPort bool, err error) {
	end := 0
	if strings.HasPrefix(s, "[") {
		if end = strings.IndexByte(s, ']'); end < 0 {
			return "", "", false, fmt.Errorf("the bracket is not closed")
		}
	}
	colons := strings.Count(s[end:], ":")
	if colons == 0 {
		return s, "", false, nil
	}
	if colons > 1 {
		return "", "", false, fmt.Errorf("more than one colon: one port, and an IPv6 address in brackets")
	}
	host, port, _ = strings.Cut(s[end:], ":")
	return s[:end] + host, port, true, nil
}

func parsePort(s string) (uint16, error) {
	if s == "" {
		return 0, fmt.Errorf("the port is missing")
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, fmt.Errorf("port %s is not a decimal number", strconv.QuoteToASCII(clip(s, 20)))
		}
	}
	if s[0] == '0' {
		return 0, fmt.Errorf("port %s starts with a zero", clip(s, 20))
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("port %s is above 65535", clip(s, 20))
	}
	return uint16(n), nil
}

// parseBareHost decides first whether s is an address or a name: a text match
// on something that a dialler would read as an address is how allowlists are
// walked through.
func parseBareHost(s string) (Target, error) {
	if strings.HasPrefix(s, "[") {
		a, err := parseBracketed(s)
		if err != nil {
			return Target{}, &TargetError{Text: s, What: err.Error(), Code: CodeMalformed}
		}
		return Target{Addr: a}, nil
	}
	if err := checkBytes(s); err != nil {
		return Target{}, &TargetError{Text: s, What: err.Error(), Code: CodeMalformed}
	}
	if endsInNumber(strings.TrimSuffix(s, ".")) {
		return parseQuad(s)
	}
	name, err := parseName(s)
	if err != nil {
		return Target{}, &TargetError{Text: s, What: err.Error(), Code: CodeMalformed}
	}
	return Target{Name: name}, nil
}

func parseBracketed(s string) (netip.Addr, error) {
	inside, ok := strings.CutSuffix(s[1:], "]")
	if !ok {
		return netip.Addr{}, fmt.Errorf("text after the closing bracket")
	}
	if strings.Contains(inside, "%") {
		return netip.Addr{}, fmt.Errorf("an address with a zone reaches nothing outside this machine's links")
	}
	a, err := netip.ParseAddr(inside)
	if err != nil || !a.Is6() {
		return netip.Addr{}, fmt.Errorf("brackets hold an IPv6 address and nothing else")
	}
	return a.Unmap(), nil
}

func parseQuad(s string) (Target, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return Target{}, &TargetError{Text: s, What: "a host that ends in a number is an address, and this one is not four decimal numbers", Code: CodeNumericHost}
	}
	return Target{Addr: a}, nil
}

// toASCII leaves ASCII as it is, so that an xn-- label is never looked into.
func toASCII(s string) (string, error) {
	if isASCII(s) {
		return s, nil
	}
	host, port, hasPort, err := splitPort(s)
	if err != nil {
		return "", err
	}
	host, err = idna.Lookup.ToASCII(host)
	if err != nil {
		return "", fmt.Errorf("not a name in any script: %s", plain.Line(err.Error(), 200)) // which holds all of the name
	}
	if hasPort {
		host += ":" + port
	}
	return host, nil
}
