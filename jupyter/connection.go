// Package jupyter speaks to Jupyter kernels: it reads connection files strictly, signs and checks messages, and is a client of a kernel.
package jupyter

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Channel is one of a kernel's five sockets, by its name in the messaging protocol.
type Channel string

// The five channels of a kernel.
const (
	Shell     Channel = "shell"
	IOPub     Channel = "iopub"
	Stdin     Channel = "stdin"
	Control   Channel = "control"
	Heartbeat Channel = "hb"
)

// Connection is what a connection file says. Keys that it does not know are kept, in their order, for JSON.
// A port of 0 means that the kernel chooses one and writes it into its file.
type Connection struct {
	Transport       string // "tcp" or "ipc"
	IP              string // as written; for ipc the path that "-PORT" is added to. Host is what to dial
	Key             string `json:"-"` // empty: messages are not signed. JSON writes it, nothing else does
	SignatureScheme string // "hmac-" and a hash
	KernelName      string

	Shell, IOPub, Stdin, Control, HB int

	// Warnings are sentences about a file that works but that its owner should hear of.
	Warnings []string

	fields []field
}

// NewKey returns a fresh key of 256 random bits, as text that every kernel reads.
func NewKey() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails: the runtime ends the program when the system has no randomness
	return hex.EncodeToString(b)
}

// Ports returns the ports of shell, iopub, stdin, control and heartbeat, in this order.
func (c *Connection) Ports() []int {
	return []int{c.Shell, c.IOPub, c.Stdin, c.Control, c.HB}
}

// Port returns the port of ch, or 0 for a channel that does not exist.
func (c *Connection) Port(ch Channel) int {
	if i := slices.Index(channels, ch); i >= 0 {
		return c.Ports()[i]
	}
	return 0
}

var channels = []Channel{Shell, IOPub, Stdin, Control, Heartbeat}

// Clone returns a copy that shares nothing that can be changed.
func (c *Connection) Clone() *Connection {
	d := *c
	d.Warnings = slices.Clone(c.Warnings)
	d.fields = slices.Clone(c.fields)
	return &d
}

// WithIP returns a copy with another address.
func (c *Connection) WithIP(ip string) *Connection {
	d := c.Clone()
	d.IP = ip
	return d
}

// Host returns the address to dial for a tcp connection: localhost and the addresses that mean "every interface" become loopback.
// IPv4 comes first for localhost, as in Jupyter.
func (c *Connection) Host() string {
	switch c.IP {
	case "", "*", "localhost", "0.0.0.0":
		return "127.0.0.1"
	case "::":
		return "::1"
	}
	if a, err := netip.ParseAddr(c.IP); err == nil {
		return a.Unmap().String()
	}
	return c.IP
}

// Address returns the network ("tcp" or "unix") and the address of ch for net.Dial.
func (c *Connection) Address(ch Channel) (network, address string) {
	port := strconv.Itoa(c.Port(ch))
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + port
	}
	return "tcp", net.JoinHostPort(c.Host(), port)
}

// Endpoint returns the address of ch in ZeroMQ's notation, such as "tcp://[::1]:50160" or "ipc:///run/k-1".
func (c *Connection) Endpoint(ch Channel) string {
	network, address := c.Address(ch)
	if network == "unix" {
		return "ipc://" + address
	}
	return "tcp://" + address
}

// CheckLocal says whether a kernel on a machine with the addresses local could listen where the file says; a *NotLocalError if not.
func (c *Connection) CheckLocal(local []netip.Addr) error {
	addr, err := netip.ParseAddr(c.Host())
	if c.Transport != "tcp" || err != nil || addr.IsLoopback() {
		return nil
	}
	for _, a := range local {
		if a.Unmap() == addr {
			return nil
		}
	}
	return &NotLocalError{IP: c.IP}
}

// NotLocalError is returned for an address that no interface of this machine has.
type NotLocalError struct{ IP string }

func (e *NotLocalError) Error() string {
	return fmt.Sprintf("ip %s is not an address of this machine", e.IP)
}

// String describes the connection without its key.
func (c Connection) String() string {
	signed := "unsigned"
	if c.Key != "" {
		signed = c.SignatureScheme
	}
	ports := make([]string, 0, len(channels))
	for i, p := range c.Ports() {
		ports = append(ports, fmt.Sprintf("%s %d", channels[i], p))
	}
	return fmt.Sprintf("%s %s (%s; %s)", c.Transport, c.IP, strings.Join(ports, ", "), signed)
}

// GoString is String: a key does not belong into a debugger's log either.
func (c Connection) GoString() string { return c.String() }
