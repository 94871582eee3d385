package egress

import (
	"context"
	"errors"
	"net/netip"
)

// Check says what would happen to a target: the decision, and for an allowed
// name one look-up with every address screened. Nothing is dialled. Port 80 of
// a host that gets credentials is judged as the plain requests to it are, which
// go on to port 443.
func (p *Proxy) Check(ctx context.Context, t Target) Report {
	credentials := p.credentialsFor(t)
	if len(credentials) > 0 {
		t = secured(t)
	}
	rep := Report{Host: t.Host(), Port: t.Port, Addresses: []netip.Addr{}}
	for _, c := range credentials {
		rep.Credentials = append(rep.Credentials, c.Header)
	}
	trip, r := p.judge(t)
	if r != nil {
		rep.Code, rep.Rule = r.code, r.rule
		if r.status == 502 {
			rep.Verdict = Allow
		}
		return rep
	}
	rep.Verdict, rep.Code, rep.Rule, rep.Via = Allow, trip.d.Code, trip.d.Rule, trip.via()
	ctx, cancel := context.WithTimeout(ctx, p.Bounds.withDefaults().Dial)
	defer cancel()
	addrs, err := p.lookUp(ctx, trip)
	for _, a := range addrs {
		rep.Addresses = append(rep.Addresses, a.Addr())
	}
	if errors.As(err, &r) {
		rep.Code = r.code
		if r.status == 403 {
			rep.Verdict = Deny
		}
	}
	return rep
}
