package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

const (
	maxDialled = 4
	// stagger is the time after which the next address is tried beside the
	// one that has not answered (RFC 8305 recommends 250 ms).
	stagger = 250 * time.Millisecond
)

type dialled struct {
	conn net.Conn
	at   netip.AddrPort
	err  error
}

// race connects to the first of at most four addresses that answers. When it
// returns, no other attempt is left.
func (p *Proxy) race(ctx context.Context, t *trip, addrs []netip.AddrPort) (net.Conn, error) {
	if len(addrs) == 1 {
		conn, err := p.connectTo(ctx, t, addrs[0])
		if err != nil {
			return nil, t.dialFault(ctx, err)
		}
		t.arrive(addrs[0])
		return conn, nil
	}
	addrs = interleave(addrs)
	addrs = addrs[:min(len(addrs), maxDialled)]
	attempt, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialled, len(addrs))
	timer := time.NewTimer(0) // starts the first attempt
	defer timer.Stop()
	var last error
	for started, ended := 0, 0; ended < len(addrs); {
		select {
		case <-timer.C:
			go p.attempt(attempt, t, addrs[started], results)
			if started++; started < len(addrs) {
				timer.Reset(stagger)
			}
		case r := <-results:
			ended++
			if r.err == nil {
				cancel()
				closeOthers(results, started-ended)
				t.arrive(r.at)
				return r.conn, nil
			}
			last = r.err
			if ctx.Err() != nil && ended == started {
				return nil, t.dialFault(ctx, last)
			}
			if started < len(addrs) {
				timer.Reset(0)
			}
		}
	}
	return nil, t.dialFault(ctx, last)
}

func (p *Proxy) attempt(ctx context.Context, t *trip, a netip.AddrPort, results chan<- dialled) {
	conn, err := p.connectTo(ctx, t, a)
	results <- dialled{conn, a, err}
}

func (p *Proxy) connectTo(ctx context.Context, t *trip, a netip.AddrPort) (net.Conn, error) {
	network := "tcp4"
	if a.Addr().Is6() {
		network = "tcp6"
	}
	dial := p.Dial
	if dial == nil {
		dial = (&net.Dialer{ControlContext: t.control(a)}).DialContext
	}
	return dial(ctx, network, a.String())
}

func closeOthers(results <-chan dialled, n int) {
	for range n {
		if r := <-results; r.err == nil {
			r.conn.Close()
		}
	}
}

// interleave alternates between the families, each in its order, beginning
// with the family that the resolver put first.
func interleave(addrs []netip.AddrPort) []netip.AddrPort {
	var lead, other []netip.AddrPort
	for _, a := range addrs {
		if a.Addr().Is4() == addrs[0].Addr().Is4() {
			lead = append(lead, a)
		} else {
			other = append(other, a)
		}
	}
	out := make([]netip.AddrPort, 0, len(addrs))
	for i := range max(len(lead), len(other)) {
		if i < len(lead) {
			out = append(out, lead[i])
		}
		if i < len(other) {
			out = append(out, other[i])
		}
	}
	return out
}

type controlFunc = func(context.Context, string, string, syscall.RawConn) error

// control is the last look before the system connects: the address must be
// the one that was decided on, and pass the screen again unless it is a pin.
// What cannot be read as an address is refused.
func (t *trip) control(want netip.AddrPort) controlFunc {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		got, err := netip.ParseAddrPort(address)
		if err != nil || netip.AddrPortFrom(got.Addr().Unmap(), got.Port()) != want {
			return fmt.Errorf("about to connect to %q instead of %s", address, want)
		}
		if t.d.Pin.IsValid() {
			return nil
		}
		if c, ok := t.rules.screen(t.target, want.Addr()); !ok {
			return fmt.Errorf("%s is a %s address", want.Addr(), c)
		}
		return nil
	}
}

func (t *trip) dialFault(ctx context.Context, err error) *refusal {
	if r := t.cutShort(ctx, CodeDialTimeout, "connecting to "+t.target.String()+" took too long"); r != nil {
		return r
	}
	return t.fail(502, CodeDialFailed, fmt.Sprintf("connecting to %s failed: %s", t.target, osReason(err)))
}

// osReason is the system's word for the failure, without the addresses that
// net.OpError adds: those belong in the event.
func osReason(err error) string {
	for {
		if e, ok := err.(syscall.Errno); ok {
			return e.Error()
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok || u.Unwrap() == nil {
			return err.Error()
		}
		err = u.Unwrap()
	}
}
