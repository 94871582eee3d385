package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// observed is what a program found in a network of its own, where the only
// name server is its own one.
type observed struct {
	Plain    map[string]string // what the system's resolver gives for a text, asked without the proxy
	Verdicts map[string]verdict
	Asked    []string // by the proxy
}

// verdict is how the proxy answered: once with its own resolver, once with
// the one that the program has by default.
type verdict struct{ Own, System answered }

type answered struct {
	Status, Code string
	Dialled      int32
}

// plainTexts are what a resolver makes of numbers, short names and names of
// /etc/hosts, when nobody is in front of it.
var plainTexts = []string{"0x7f.1", "127.1", "017700000001", "2130706433", "0x7f000001", "short", "printer.allowed.test", "row-0.allowed.test."}

// strangeHosts are hosts that the C library's resolver reads as something,
// with the verdict to demand.
var strangeHosts = map[string]string{
	"0x7f.1": "403 numeric-host", "127.1": "403 numeric-host", "017700000001": "403 numeric-host", "2130706433": "403 numeric-host", "0x7f000001": "403 numeric-host",
	"0177.0.0.1": "403 numeric-host", "127.0.0.1.": "403 numeric-host", "127.0.1": "403 numeric-host", "0": "403 numeric-host", "1.2.3.0x4": "403 numeric-host",
	"127.0.0.1": "403 address-literal", "[::1]": "403 address-literal", "[::ffff:127.0.0.1]": "403 address-literal",
	"[fe80::1%lo]": "400 malformed", "[::ffff:127.0.0.2%25x.allowed.test]": "400 malformed", "fe80::1%lo": "400 malformed",
	"localhost": "403 local-name", "localhost.": "403 local-name", "x.localhost": "403 local-name",
	"short": "502 no-address", "short.": "502 no-address", "localhost.localdomain": "403 not-listed",
	"printer.allowed.test": "403 inward-address", "printer.allowed.test.": "403 inward-address", "PRINTER.allowed.test": "403 inward-address",
	"none.allowed.test": "502 no-address", "mixed.allowed.test": "403 inward-address",
}

func insideRecords() map[string][]netip.Addr {
	records := map[string][]netip.Addr{
		"short.search.test.":             addrs("192.0.2.80"), // found by a search domain alone
		"mixed.allowed.test.":            addrs("192.0.2.80", "::1"),
		"none.allowed.test.search.test.": addrs("192.0.2.80"),
	}
	for name, a := range rowNames() {
		records[name+"."] = []netip.Addr{a}
	}
	return records
}

// rowNames gives each address of the class table a name.
func rowNames() map[string]netip.Addr {
	names := map[string]netip.Addr{}
	for _, r := range classRows {
		for _, s := range r.addrs {
			names[fmt.Sprintf("row-%d.allowed.test", len(names))] = netip.MustParseAddr(s)
		}
	}
	return names
}

func resolveInside() (observed, error) {
	o := observed{Plain: map[string]string{}, Verdicts: map[string]verdict{}}
	names, err := serveNames("127.0.0.1:53", insideRecords())
	if err != nil {
		return o, err
	}
	defer names.Close()
	for _, text := range plainTexts {
		all, err := net.DefaultResolver.LookupHost(context.Background(), text)
		if err != nil {
			all = []string{"nothing"}
		}
		o.Plain[text] = strings.Join(all, " ")
	}
	names.mu.Lock()
	names.asked = nil
	names.mu.Unlock()
	hosts := slices.Collect(func(yield func(string) bool) {
		for h := range strangeHosts {
			yield(h)
		}
		for h := range rowNames() {
			yield(h)
		}
	})
	own, system := askInside(hosts, nil), askInside(hosts, net.DefaultResolver)
	for _, h := range hosts {
		o.Verdicts[h] = verdict{own[h], system[h]}
	}
	o.Asked = names.names()
	return o, nil
}

// askInside asks a proxy for each host. Its dialler counts and reaches nobody.
func askInside(hosts []string, r Resolver) map[string]answered {
	var dialled atomic.Int32
	p := &Proxy{
		Rules:    func() (*Rules, error) { return mustRules(".allowed.test", "short"), nil },
		Resolver: r,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			dialled.Add(1)
			a, b := net.Pipe()
			b.Close()
			return a, nil
		},
	}
	defer p.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil
	}
	go p.Serve(l)
	out := map[string]answered{}
	for _, h := range hosts {
		dialled.Store(0)
		a := askOne(l.Addr().String(), h)
		a.Dialled = dialled.Load()
		out[h] = a
	}
	return out
}

func askOne(proxy, host string) answered {
	conn, err := net.DialTimeout("tcp", proxy, 10*time.Second)
	if err != nil {
		return answered{Status: err.Error()}
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(conn, "CONNECT %s:443 HTTP/1.1\r\n\r\n", host)
	r := bufio.NewReader(conn)
	line, _ := r.ReadString('\n')
	rest, _ := io.ReadAll(r)
	_, code, _ := strings.Cut(string(rest), `"code":"`)
	code, _, _ = strings.Cut(code, `"`)
	return answered{Status: strings.Join(strings.Fields(line)[1:2], ""), Code: code}
}
