package egress

// Narrow is what two allow rules both open: the narrower host, on the ports that both have. False when they have nothing in common.
func (r Rule) Narrow(to Rule) (Rule, bool) {
	out := r
	switch {
	case to.holds(r):
	case r.holds(to):
		out = to
	default:
		return Rule{}, false
	}
	switch {
	case r.port == to.port, to.port == 0 && to.opens(r.port):
		out.port = r.port
	case r.port == 0 && r.opens(to.port):
		out.port = to.port
	default:
		return Rule{}, false
	}
	return out, true
}

// holds is true when every host of q is one of r, whatever the ports.
func (r Rule) holds(q Rule) bool {
	if r.addr.IsValid() || q.addr.IsValid() {
		return r.addr == q.addr
	}
	if r.reach == reachExact && q.reach != reachExact {
		return false
	}
	return r.names(Target{Name: q.name}) || r.reach == reachBelow && q.reach == reachBelow && r.name == q.name
}

// Within is true when i lets its host into no more addresses than bound does.
func (i Inward) Within(bound Inward) bool {
	return i.name == bound.name && bound.prefix.Bits() <= i.prefix.Bits() && bound.prefix.Contains(i.prefix.Addr())
}
