package egress

import "net/netip"

// Rules is a whole policy. It is only read once in use; a changed policy is
// another Rules. The zero value denies everything.
type Rules struct {
	Allow  []Rule
	Deny   []Rule   // beats Allow
	Pins   []Pin    // addresses of hosts that Allow names; the closest one counts
	Inward []Inward // what hosts that Allow names may resolve into besides public addresses
	Screen Screen
}

// Decision is what the rules say about a target before any look-up.
type Decision struct {
	Verdict Verdict
	Code    string         // see the Code constants
	Rule    string         // the rule that decided, or empty
	Pin     netip.AddrPort // where a pinned name is dialled, or zero
}

// Decide judges a target by its name, or its address, and its port. Deny
// beats allow, whatever the order. Nothing is looked up: an allowed name may
// still lead to an address that is refused.
func (r *Rules) Decide(t Target) Decision {
	switch {
	case isLocal(t.Name):
		return Decision{Code: CodeLocalName}
	case isMetadata(t.Name):
		return Decision{Code: CodeMetadataName}
	}
	for _, rule := range r.Deny {
		if rule.names(t) && rule.covers(t.Port) {
			return Decision{Code: CodeDenyRule, Rule: rule.String()}
		}
	}
	return r.allowed(t)
}

func (r *Rules) allowed(t Target) Decision {
	d := Decision{Code: CodeNotListed}
	if t.Addr.IsValid() {
		d.Code = CodeAddressLiteral
	}
	for _, rule := range r.Allow {
		if !rule.names(t) {
			continue
		}
		if rule.opens(t.Port) {
			return r.pinned(t, Decision{Verdict: Allow, Code: CodeAllowed, Rule: rule.String()})
		}
		if d.Rule == "" {
			d = Decision{Code: CodePortNotListed, Rule: rule.String()}
		}
	}
	return d
}

func (r *Rules) pinned(t Target, d Decision) Decision {
	var best *Pin
	for i := range r.Pins {
		if p := &r.Pins[i]; p.matches(t) && (best == nil || p.closer(*best)) {
			best = p
		}
	}
	if best != nil {
		d.Code, d.Pin = CodePinned, best.to(t)
	}
	return d
}

// screen says whether an address that t resolved to may be dialled.
func (r *Rules) screen(t Target, a netip.Addr) (Class, bool) {
	c := Classify(a)
	if r.Screen.passes(c) {
		return c, true
	}
	for _, i := range r.Inward {
		if i.lifts(t, a) {
			return c, true
		}
	}
	return c, false
}
