package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"

	"github.com/kernel-launch/kernel-launch/egress"
)

// Forward shows a service that the host reaches on the kernel's own localhost.
type Forward struct {
	Port     uint16 // inside
	Host     string // seen from the host, an IPv6 address without brackets; "127.0.0.1" when only a port was given
	HostPort uint16
}

// String is how a forward is written.
func (f Forward) String() string {
	if f.Host == "127.0.0.1" && f.HostPort == f.Port {
		return strconv.Itoa(int(f.Port))
	}
	return fmt.Sprintf("%d:%s", f.Port, f.Service())
}

// Service is HOST:PORT as the host dials it.
func (f Forward) Service() string { return net.JoinHostPort(f.Host, strconv.Itoa(int(f.HostPort))) }

// Publish shows a port of the kernel's own localhost on the host's.
type Publish struct {
	HostPort uint16
	Port     uint16 // inside
}

// String is how a published port is written.
func (p Publish) String() string {
	if p.HostPort == p.Port {
		return strconv.Itoa(int(p.Port))
	}
	return fmt.Sprintf("%d:%d", p.HostPort, p.Port)
}

// ParseForward reads "PORT" or "PORT:HOST:PORT", the kernel's side first. HOST is one name or address; which one is not looked at: whoever names it wants it.
func ParseForward(s string) (Forward, error) {
	inside, rest, far := strings.Cut(s, ":")
	p, err := port(inside)
	if err != nil {
		return Forward{}, err
	}
	if !far {
		return Forward{Port: p, Host: "127.0.0.1", HostPort: p}, nil
	}
	i := strings.LastIndexByte(rest, ':')
	if i < 1 || strings.ContainsRune(rest[:i], ':') && !(rest[0] == '[' && rest[i-1] == ']') || strings.ContainsFunc(rest, unicode.IsSpace) {
		return Forward{}, fmt.Errorf("must be PORT or PORT:HOST:PORT, an IPv6 address in brackets, not %s", quote(s))
	}
	hp, err := port(rest[i+1:])
	if err != nil {
		return Forward{}, err
	}
	t, err := egress.ParseHost(rest[:i], hp)
	if err != nil {
		return Forward{}, err
	}
	return Forward{Port: p, Host: t.Host(), HostPort: hp}, nil
}

// ParsePublish reads "PORT" or "HOSTPORT:PORT", the host's side first.
func ParsePublish(s string) (Publish, error) {
	outside, inside, two := strings.Cut(s, ":")
	if !two {
		inside = outside
	}
	p, err := port(inside)
	if err != nil {
		return Publish{}, err
	}
	hp, err := port(outside)
	return Publish{HostPort: hp, Port: p}, err
}
