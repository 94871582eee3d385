package egress

import (
	"net"
	"net/netip"
)

// own is true for where the proxy itself listens: a connection there comes
// back as a client's, and again, until there are no more to be had.
func (p *Proxy) own(to netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.listeners {
		at, ok := l.Addr().(*net.TCPAddr)
		if !ok || at.Port != int(to.Port()) {
			continue
		}
		if at.IP.IsUnspecified() && ofThisMachine(to.Addr()) || at.AddrPort().Addr().Unmap() == to.Addr() {
			return true
		}
	}
	return false
}

// ofThisMachine is true, too, where the machine's addresses cannot be read.
func ofThisMachine(a netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, i := range all {
		if p, err := netip.ParsePrefix(i.String()); err == nil && p.Addr().Unmap() == a {
			return true
		}
	}
	return false
}
