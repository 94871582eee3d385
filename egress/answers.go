package egress

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// How long an answer of the system's name servers serves, and for how many
// names. Programs open many connections to one host within a moment; longer
// than that would keep addresses that are no longer right.
const (
	answerTime = 2 * time.Second
	answersMax = 256
)

// answers is Go's own resolver, which joins questions for one name that are
// under way at once, with a short memory. Faults are not remembered, and every
// answer is screened whenever it is used.
type answers struct {
	mu       sync.Mutex
	resolver *net.Resolver // nil before the first question
	kept     map[string]answer
}

type answer struct {
	addrs []netip.Addr
	until time.Time
}

// LookupNetIP gives a slice that others may hold as well.
func (a *answers) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	addrs, resolver := a.remembered(host)
	if addrs != nil {
		return addrs, nil
	}
	addrs, err := resolver.LookupNetIP(ctx, network, host)
	if err == nil && len(addrs) > 0 {
		a.keep(host, addrs)
	}
	return addrs, err
}

// remembered gives an answer, or who is to be asked.
func (a *answers) remembered(host string) ([]netip.Addr, *net.Resolver) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.kept[host]; time.Now().Before(k.until) {
		return k.addrs, nil
	}
	if a.resolver == nil {
		a.resolver = &net.Resolver{PreferGo: true}
	}
	return nil, a.resolver
}

func (a *answers) keep(host string, addrs []netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil || len(a.kept) >= answersMax {
		a.kept = map[string]answer{}
	}
	a.kept[host] = answer{addrs, time.Now().Add(answerTime)}
}

// forget is told of a host that could not be reached: it may have moved.
func (a *answers) forget(host string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.kept, host)
}
