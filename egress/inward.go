package egress

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// Inward lets one host resolve into one range that is not public. It permits
// nothing by itself, and lifts neither loopback nor link-local nor metadata.
type Inward struct {
	name   string
	prefix netip.Prefix
}

// InwardError says why a host and a range cannot be opened.
type InwardError struct {
	Host, Prefix, What string
	Suggest            string // the host, or the range, that could be meant; or empty
}

func (e *InwardError) Error() string {
	s := fmt.Sprintf("allow_inward %s %s: %s", plain.Line(strconv.Quote(e.Host), 100), plain.Line(strconv.Quote(e.Prefix), 60), e.What)
	if e.Suggest != "" {
		s += fmt.Sprintf("; write %q", e.Suggest)
	}
	return s
}

// ParseInward reads a host name (no pattern, no port) and a range as
// "10.20.0.0/16"; a single address is a range of one. Errors are *RuleError
// and *InwardError.
func ParseInward(host, prefix string) (Inward, error) {
	fault := func(what, suggest string) (Inward, error) {
		return Inward{}, &InwardError{Host: host, Prefix: prefix, What: what, Suggest: suggest}
	}
	r, err := ParseRule(host)
	if err != nil {
		return Inward{}, err
	}
	if r.addr.IsValid() || r.reach != reachExact || r.port != 0 {
		return fault("the host is one name, without star, leading dot and port", r.name)
	}
	p, err := parseRange(strings.TrimSpace(prefix))
	if err != nil {
		return fault(err.Error(), "")
	}
	if p.Masked() != p {
		return fault("the range has bits behind its length", p.Masked().String())
	}
	if !liftable(p) {
		return fault("only a range inside private, shared or benchmark address space can be opened", "")
	}
	return Inward{name: r.name, prefix: p}, nil
}

func parseRange(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" && !a.Is4In6() {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil || p.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("not a range of addresses, as 10.20.0.0/16")
	}
	return p, nil
}

// liftable is true when the first row that holds p wholly is of a class that
// may be opened. Metadata addresses inside p stay shut, because they have rows
// of their own.
func liftable(p netip.Prefix) bool {
	for _, r := range classTable {
		if r.prefix.Bits() <= p.Bits() && r.prefix.Contains(p.Addr()) {
			return r.class.Inward()
		}
	}
	return false
}

// String is HOST into RANGE.
func (i Inward) String() string { return i.name + " into " + i.prefix.String() }

func (i Inward) lifts(t Target, a netip.Addr) bool {
	return i.name != "" && i.name == t.Name && i.prefix.Contains(a) && Classify(a).Inward()
}
