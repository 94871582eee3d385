package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// resolve gives every address that may be dialled, in the resolver's order.
// One address that may not be spoils the whole answer: who can put it there
// can also choose when it is used. On that refusal the addresses come back
// too, for the record.
func (p *Proxy) resolve(ctx context.Context, t *trip) ([]netip.AddrPort, error) {
	if t.d.Pin.IsValid() {
		return []netip.AddrPort{t.d.Pin}, nil
	}
	addrs := []netip.Addr{t.target.Addr}
	if !t.target.Addr.IsValid() {
		var err error
		addrs, err = p.resolver().LookupNetIP(ctx, "ip", absolute(t.target.Name))
		if err != nil {
			return nil, t.lookupFault(ctx, err)
		}
	}
	if len(addrs) == 0 {
		return nil, t.noAddress()
	}
	return p.screenAll(t, addrs)
}

// absolute has a final dot, which keeps search domains out.
func absolute(name string) string { return name + "." }

func (p *Proxy) resolver() Resolver {
	if p.Resolver != nil {
		return p.Resolver
	}
	return &p.names
}

func (p *Proxy) screenAll(t *trip, addrs []netip.Addr) ([]netip.AddrPort, error) {
	var refusal error
	out := make([]netip.AddrPort, 0, len(addrs))
	for _, a := range addrs {
		to := netip.AddrPortFrom(a.Unmap(), t.target.Port)
		if what := p.objection(t, to); what != "" && refusal == nil {
			refusal = t.fail(403, CodeInwardAddress, t.target.Host()+" leads to "+what)
		}
		out = append(out, to)
	}
	return out, refusal
}

// objection says what an address is that may not be dialled, empty when it may.
func (p *Proxy) objection(t *trip, to netip.AddrPort) string {
	if c, ok := t.rules.screen(t.target, to.Addr()); !ok {
		return fmt.Sprintf("%s, a %s address", to.Addr(), c)
	}
	if p.own(to) {
		return fmt.Sprintf("%s, where this proxy listens itself", to)
	}
	return ""
}

func (t *trip) noAddress() *refusal {
	return t.fail(502, CodeNoAddress, t.target.Host()+" has no address")
}

func (t *trip) lookupFault(ctx context.Context, err error) *refusal {
	if r := t.cutShort(ctx, CodeLookupTimeout, "looking up "+t.target.Host()+" took too long"); r != nil {
		return r
	}
	var de *net.DNSError
	switch {
	case errors.As(err, &de) && de.IsNotFound:
		return t.noAddress()
	case errors.As(err, &de) && de.IsTimeout:
		return t.fail(504, CodeLookupTimeout, "the name server did not answer for "+t.target.Host())
	}
	return t.fail(502, CodeLookupFailed, "looking up "+t.target.Host()+" failed")
}

// cutShort tells why ctx ended, nil when it has not.
func (t *trip) cutShort(ctx context.Context, code, what string) *refusal {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return nil
	case errors.Is(cause, errClientLeft):
		return t.fail(502, CodeClientLeft, "the client left before "+t.target.Host()+" was reached")
	case errors.Is(cause, ErrClosed):
		return t.fail(502, CodeStopped, "the proxy was stopped")
	case errors.Is(cause, errNoLonger):
		return t.fail(502, CodeStopped, "the rules have come to deny "+t.target.Host())
	}
	return t.fail(504, code, what)
}
