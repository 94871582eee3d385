package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/kernel-launch/kernel-launch/egress"
)

// A proxy that lets one domain through, which is pinned to a server on this
// machine, and refuses the rest with the reason.
func ExampleProxy() {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello from %s", r.Host)
	}))
	defer origin.Close()
	rules := &egress.Rules{
		Allow: []egress.Rule{rule(".lab.test")},
		Pins:  []egress.Pin{pin(".lab.test", origin.Listener.Addr().String())},
	}
	events := make(chan egress.Event, 2)
	proxy := &egress.Proxy{
		Rules: func() (*egress.Rules, error) { return rules, nil },
		Event: func(e egress.Event) { events <- e },
	}

	l, err := proxy.Listen("127.0.0.1:0")
	check(err)
	served := make(chan error)
	go func() { served <- proxy.Serve(l) }()

	for _, u := range []string{"http://data.lab.test/", "http://other.test/"} {
		fmt.Println(get(l.Addr().String(), u))
		e := <-events
		fmt.Println(e.Verdict, e.Host, e.Port, e.Code)
	}
	check(proxy.Close()) // every connection is gone
	check(<-served)
	// Output:
	// 200 OK: hello from data.lab.test
	// allow data.lab.test 80 pinned
	// 403 other.test is not on the allowlist: {"schema":1,"code":"not-listed","error":"other.test is not on the allowlist","host":"other.test","port":80}
	// deny other.test 80 not-listed
}

// On a loopback that other programs share, a secret keeps them out. Clients
// get it with the proxy's address, in the variables that they read.
func ExampleProxy_Listen() {
	origin := httptest.NewServer(http.NotFoundHandler())
	defer origin.Close()
	rules := &egress.Rules{Allow: []egress.Rule{rule("data.test")}, Pins: []egress.Pin{pin("data.test", origin.Listener.Addr().String())}}
	proxy := &egress.Proxy{Rules: func() (*egress.Rules, error) { return rules, nil }, Secret: egress.NewSecret()}
	l, err := proxy.Listen("127.0.0.1:0")
	check(err)
	go proxy.Serve(l)
	defer proxy.Close()

	env := egress.ClientEnvironment(egress.WithSecret(l.Addr().String(), proxy.Secret))
	known, err := url.Parse(env["http_proxy"])
	check(err)
	for _, u := range []*url.URL{known, {Scheme: "http", Host: l.Addr().String()}} {
		client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true}}
		resp, err := client.Get("http://data.test/")
		check(err)
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	// Output:
	// 404 Not Found
	// 407 this proxy serves one kernel, and the request does not carry its secret
}

// Check says what would happen. A name is looked up when the rules allow it,
// here by a resolver of our own; nothing is connected to.
func ExampleProxy_Check() {
	rules := &egress.Rules{Allow: []egress.Rule{rule(".example.org")}}
	proxy := &egress.Proxy{
		Rules:    func() (*egress.Rules, error) { return rules, nil },
		Resolver: hosts{"data.example.org.": "198.51.100.7", "intranet.example.org.": "10.0.0.7"},
	}
	for _, s := range []string{"data.example.org", "data.example.org:25", "intranet.example.org", "example.com"} {
		target, err := egress.ParseHost(s, 443)
		check(err)
		r := proxy.Check(context.Background(), target)
		fmt.Println(target, r.Verdict, r.Code, r.Rule, r.Addresses)
	}
	// Output:
	// data.example.org:443 allow allowed .example.org [198.51.100.7]
	// data.example.org:25 deny port-not-listed .example.org []
	// intranet.example.org:443 deny inward-address .example.org [10.0.0.7]
	// example.com:443 deny not-listed  []
}

// hosts is a resolver of fixed answers.
type hosts map[string]string

func (h hosts) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	a, err := netip.ParseAddr(h[host])
	if err != nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{a}, nil
}

// Rules are read anew for every connection: a change is a change of what the
// function gives. Review ends what is open and no longer allowed.
func ExampleProxy_Review() {
	origin, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer origin.Close()
	var rules atomic.Pointer[egress.Rules]
	rules.Store(&egress.Rules{Allow: []egress.Rule{rule("data.test:7")}, Pins: []egress.Pin{pin("data.test", origin.Addr().String())}})
	proxy := &egress.Proxy{Rules: func() (*egress.Rules, error) { return rules.Load(), nil }}
	l, err := proxy.Listen("127.0.0.1:0")
	check(err)
	go proxy.Serve(l)
	defer proxy.Close()

	tunnel, err := net.Dial("tcp", l.Addr().String())
	check(err)
	defer tunnel.Close()
	fmt.Fprint(tunnel, "CONNECT data.test:7 HTTP/1.1\r\n\r\n")
	status, err := bufio.NewReader(tunnel).ReadString('\n')
	check(err)
	fmt.Println(strings.TrimSpace(status))

	rules.Store(&egress.Rules{})
	fmt.Println("ended:", proxy.Review())
	// Output:
	// HTTP/1.1 200 Connection established
	// ended: 1
}

// DialProxy is the other end: it connects through a proxy, and says in a
// *ProxyError what the proxy refused.
func ExampleDialProxy() {
	proxy := &egress.Proxy{Rules: func() (*egress.Rules, error) { return &egress.Rules{}, nil }}
	l, err := proxy.Listen("127.0.0.1:0")
	check(err)
	go proxy.Serve(l)
	defer proxy.Close()

	_, err = egress.DialProxy(context.Background(), &url.URL{Scheme: "http", Host: l.Addr().String()}, "git.test:22", nil)
	var refused *egress.ProxyError
	fmt.Println(errors.As(err, &refused), refused.Status, refused.Phrase)
	// Output: true 403 git.test is not on the allowlist
}

func ExampleClientEnvironment() {
	env := egress.ClientEnvironment("127.0.0.1:3128")
	fmt.Println(env["https_proxy"], env["NO_PROXY"])
	// Output: http://127.0.0.1:3128 localhost,127.0.0.1,::1
}

// get asks through a proxy and gives the status and the body.
func get(proxy, address string) string {
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}), DisableKeepAlives: true}}
	resp, err := client.Get(address)
	check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	check(err)
	return resp.Status + ": " + strings.TrimSpace(string(body))
}

func rule(s string) egress.Rule {
	r, err := egress.ParseRule(s)
	check(err)
	return r
}

func pin(rule, address string) egress.Pin {
	p, err := egress.ParsePin(rule, address)
	check(err)
	return p
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
