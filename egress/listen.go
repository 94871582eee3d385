package egress

import (
	"fmt"
	"net"
	"net/netip"
)

// ListenError is an address that a proxy does not listen on.
type ListenError struct {
	Address string // as it was given
	Err     error  // the system's, or nil when the address is open to others
}

func (e *ListenError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("egress proxy on %q: %v", e.Address, e.Err)
	}
	return fmt.Sprintf("egress proxy on %q: other machines may reach this address, and whoever reaches the proxy can use it; listen on 127.0.0.1 or ::1, or set a Secret", e.Address)
}

func (e *ListenError) Unwrap() error { return e.Err }

// Listen binds a listener for Serve to a TCP address, as "127.0.0.1:3128" or
// "[::1]:0"; port 0 is one that is free, which the listener's Addr names. When
// it returns, clients can connect. An address that is not loopback, a name
// included, takes a Secret. Errors are *ListenError.
func (p *Proxy) Listen(address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if (err != nil || !at.Addr().IsLoopback()) && p.Secret == "" {
		return nil, &ListenError{Address: address}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &ListenError{Address: address, Err: err}
	}
	return l, nil
}
