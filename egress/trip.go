package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// trip is an allowed target on its way to a connection, with what was
// measured for the event.
type trip struct {
	rules  *Rules
	target Target
	d      Decision
	ctx    context.Context         // of a plain request
	reset  context.CancelCauseFunc // ends ctx

	mu        sync.Mutex // a transport may still dial when the request is over
	addresses []netip.Addr
	dns, dial time.Duration
}

// judge reads the rules and decides. It neither resolves nor dials.
func (p *Proxy) judge(t Target) (*trip, *refusal) {
	rules, err := p.rules()
	if err != nil {
		return nil, refused(t, Decision{Code: CodePolicyUnreadable})
	}
	d := rules.Decide(t)
	if d.Verdict != Allow {
		return nil, refused(t, d)
	}
	return &trip{rules: rules, target: t, d: d}, nil
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
	ev.Addresses, ev.DNS, ev.Dial = t.addresses, t.dns, t.dial
}

// reach resolves once, screens everything and connects. A look-up ends with
// lookup, connecting with dial: they differ in which departure of the client
// ends them. Errors are *refusal.
func (p *Proxy) reach(lookup, dial context.Context, t *trip) (net.Conn, error) {
	limit := time.Now().Add(p.Bounds.withDefaults().Dial)
	start := time.Now()
	ctx, cancel := context.WithDeadline(lookup, limit)
	defer cancel()
	addrs, err := p.resolve(ctx, t)
	t.note(addrs, &t.dns, start)
	if err != nil {
		return nil, err
	}
	start = time.Now()
	ctx, cancel = context.WithDeadline(dial, limit)
	defer cancel()
	conn, err := p.race(ctx, t, addrs)
	t.note(addrs, &t.dial, start)
	return conn, err
}

func (t *trip) note(addrs []netip.AddrPort, d *time.Duration, start time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*d = time.Since(start)
	t.addresses = nil
	for _, a := range addrs {
		t.addresses = append(t.addresses, a.Addr())
	}
}

func (t *trip) fail(status int, code, what string) *refusal {
	return &refusal{status: status, code: code, what: what, rule: t.d.Rule, host: t.target.Host(), port: t.target.Port}
}
