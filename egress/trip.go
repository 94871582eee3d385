package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"time"
)

// trip is an allowed target on its way to a connection, with what was
// measured for the event.
type trip struct {
	rules   *Rules
	target  Target
	d       Decision
	reviews int64 // before the rules were read

	front    *url.URL // the proxy in front; nil is none
	absolute bool     // a plain request goes to it as one, not through a tunnel

	ctx context.Context // of a plain request

	mu        sync.Mutex // a transport may still dial when the request is over
	addresses []netip.Addr
	at        netip.AddrPort // one of them, once it is connected to; a proxy in front chooses by itself
	dns, dial time.Duration
}

// judge reads the rules and decides. It neither resolves nor dials.
func (p *Proxy) judge(t Target) (*trip, *refusal) {
	reviews := p.reviews.Load()
	rules, err := p.rules()
	if err != nil {
		return nil, refused(t, Decision{Code: CodePolicyUnreadable})
	}
	d := rules.Decide(t)
	if d.Verdict != Allow {
		return nil, refused(t, d)
	}
	trip := &trip{rules: rules, target: t, d: d, reviews: reviews}
	if trip.front, err = p.front(rules, t, d); err != nil {
		return nil, trip.fail(502, CodeProxyFailed, err.Error())
	}
	return trip, nil
}

var errNoRules = errors.New("no rules")

func (p *Proxy) rules() (*Rules, error) {
	if p.Rules == nil {
		return nil, errNoRules
	}
	rules, err := p.Rules()
	if err == nil && rules == nil {
		err = errNoRules
	}
	return rules, err
}

// fill adds what the trip measured to an event.
func (t *trip) fill(ev *Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ev.Addresses, ev.DNS, ev.Dial, ev.Via = t.addresses, t.dns, t.dial, t.via()
}

// reach resolves once, screens everything and connects. dialing, if there is
// one, is called between. Errors are *refusal.
func (p *Proxy) reach(ctx context.Context, t *trip, dialing func()) (net.Conn, error) {
	start := time.Now()
	ctx, cancel := context.WithDeadline(ctx, start.Add(p.Bounds.withDefaults().Dial))
	defer cancel()
	addrs, err := p.lookUp(ctx, t)
	looked := time.Now()
	t.note(addrs, looked.Sub(start))
	if err != nil {
		return nil, err
	}
	if dialing != nil {
		dialing()
	}
	var conn net.Conn
	if t.front != nil {
		conn, err = p.through(ctx, t)
	} else {
		conn, err = p.race(ctx, t, addrs)
		if err != nil {
			p.names.forget(absolute(t.target.Name))
		}
	}
	t.took(time.Since(looked))
	if err != nil {
		return nil, err
	}
	if r := p.reviewed(t); r != nil {
		conn.Close()
		return nil, r
	}
	return conn, nil
}

// lookUp resolves and screens. Where a proxy in front looks the name up
// itself, one that cannot be looked up here passes unscreened: such a proxy is
// often the only one that knows names of the world outside.
func (p *Proxy) lookUp(ctx context.Context, t *trip) ([]netip.AddrPort, error) {
	if t.front == nil {
		return p.resolve(ctx, t)
	}
	beside, cancel := context.WithTimeout(ctx, lookupBeside)
	defer cancel()
	addrs, err := p.resolve(beside, t)
	var r *refusal
	if errors.As(err, &r) && r.status != 403 && ctx.Err() == nil {
		return nil, nil
	}
	return addrs, err
}

func (t *trip) via() string {
	if t.front == nil {
		return ""
	}
	return proxyName(t.front)
}

func (t *trip) note(addrs []netip.AddrPort, dns time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dns, t.addresses = dns, nil
	for _, a := range addrs {
		t.addresses = append(t.addresses, a.Addr())
	}
}

func (t *trip) took(dial time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dial = dial
}

func (t *trip) arrive(at netip.AddrPort) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = at
}

func (t *trip) arrived() netip.AddrPort {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at
}

func (t *trip) fail(status int, code, what string) *refusal {
	return &refusal{status: status, code: code, what: what, rule: t.d.Rule, host: t.target.Host(), port: t.target.Port}
}
