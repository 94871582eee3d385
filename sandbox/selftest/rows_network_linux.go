package selftest

import (
	"net"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/probe"
)

// networkRows hold where the network is severed: with none, and with the allowlist.
func (h *host) networkRows() []row {
	refused, unreachable := fails("ECONNREFUSED"), fails("ENETUNREACH")
	way := control(at("route", testNet(9)))
	rows := []row{
		{number: 1, name: "connect to a port of the host's loopback", call: at("connect", h.tcp), inside: refused, quick: true},
		{number: 5, name: "ask a service of the host by UDP", call: at("ask by udp", h.udp), inside: refused, quick: true},
		{number: 14, name: "connect to an abstract socket of the host", call: at("connect", h.abstract), inside: refused, quick: true},
		{number: 11, name: "make a netlink socket", call: do("socket", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)},
		{number: 11, name: "list the interfaces", call: do("interfaces"), inside: says("lo")},
		{number: 6, name: "connect to an outside address", call: at("connect", testNet(80)), control: way, inside: unreachable},
		{number: 22, name: "send to an outside address", call: at("route", testNet(9)), inside: unreachable},
		{number: 7, name: "ask a name server", call: two("resolve", "probe.test", h.names), outside: says("192.0.2.7"), inside: fails("unknown")},
		{number: 7, name: "look up a name", call: at("look up", "probe.test"), control: control(two("resolve", "probe.test", h.names)), inside: fails("unknown")},
		{number: 7, name: "look up localhost", call: at("look up", "localhost"), inside: says("127.0.0.1 ::1")},
		{number: 2, name: "connect to a port of the host's loopback by IPv6", call: at("connect", h.tcp6), inside: refused},
		{number: 3, name: "connect to the host by another loopback address", call: at("connect", net.JoinHostPort("127.0.0.2", h.any)), inside: refused},
	}
	if address := outward(); address != "" {
		rows = append(rows, row{number: 4, name: "connect to the host by its own address", call: at("connect", net.JoinHostPort(address, h.any)), inside: unreachable})
	}
	return rows
}

// familyRows are about kinds of sockets. What needs a right is tried outside by the root of namespaces of its own.
func familyRows() []row {
	none := fails("EAFNOSUPPORT")
	datagram := control(do("socket", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDP))
	return []row{
		{number: 8, name: "make an ICMP datagram socket", call: do("socket", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP), control: datagram, inside: fails("EACCES")},
		{number: 9, name: "make a raw socket", call: do("socket", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), spare: true, inside: fails("EPERM")},
		{number: 10, name: "make a packet socket", call: do("socket", unix.AF_PACKET, unix.SOCK_RAW, 0), spare: true, inside: none},
		{number: 11, name: "ask by netlink for more than the interfaces", call: do("socket", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT), inside: fails("EPROTONOSUPPORT")},
		{number: 9, name: "make a socket of a rare protocol", call: do("socket", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE), outside: eitherWay("EPROTONOSUPPORT"), inside: fails("EPROTONOSUPPORT")},
		// A kernel without these families answers as the filter does.
		{number: 12, name: "make a socket to the hypervisor", call: do("socket", unix.AF_VSOCK, unix.SOCK_STREAM, 0), outside: eitherWay("EAFNOSUPPORT"), inside: none},
		{number: 13, name: "make a socket of the kernel's ciphers", call: do("socket", unix.AF_ALG, unix.SOCK_SEQPACKET, 0), outside: eitherWay("EAFNOSUPPORT"), inside: none},
	}
}

// socketRows hold with every network: what has a path is not in view.
func (h *host) socketRows() []row {
	var rows []row
	for i, path := range h.sockets {
		number, gone := 20, fails("ENOENT")
		if i == 0 {
			number = 15
		}
		rows = append(rows, row{number: number, name: "connect to " + path[len(h.base)+1:], call: at("connect", path), inside: gone, quick: true})
	}
	return append(rows, row{
		number: 19, name: "find a socket to bind over", call: at("find sockets", "/"), control: control(at("find sockets", h.base)),
		outside: holdsWord(h.sockets[0]), inside: says(""),
	})
}

// hostRows are what holds with the host's network, and what that gives on purpose.
func (h *host) hostRows() []row {
	rows := append(h.socketRows(), row{number: 11, name: "list the interfaces, which are the host's", call: do("interfaces"), inside: says(interfaces())})
	for _, c := range []probe.Call{at("connect", h.tcp), at("connect", h.abstract), at("ask by udp", h.udp)} {
		rows = append(rows, row{number: 1, name: "reach " + c.Args.Path + ", which is shared on purpose", call: c})
	}
	for _, part := range [][]row{familyRows(), h.processRows(), h.callRows(), h.namespaceRows(), h.objectRows(), h.fileRows(), kernelRows(), deviceRows(), h.sizeRows()} {
		rows = append(rows, part...)
	}
	return rows
}

func interfaces() string {
	all, err := net.Interfaces()
	if err != nil {
		return err.Error()
	}
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = one.Name
	}
	return strings.Join(names, " ")
}
