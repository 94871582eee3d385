package egress_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/kernel-launch/kernel-launch/egress"
)

// A proxy that lets one host through, which is pinned to a server on this
// machine, and refuses the rest with the reason.
func ExampleProxy() {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello from %s", r.Host)
	}))
	defer origin.Close()

	allow, err := egress.ParseRule(".lab.test")
	check(err)
	pin, err := egress.ParsePin(".lab.test", origin.Listener.Addr().String())
	check(err)
	rules := &egress.Rules{Allow: []egress.Rule{allow}, Pins: []egress.Pin{pin}}
	proxy := &egress.Proxy{Rules: func() (*egress.Rules, error) { return rules, nil }}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go proxy.Serve(l)
	defer proxy.Close()

	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})}}
	for _, u := range []string{"http://data.lab.test/", "http://other.test/"} {
		resp, err := client.Get(u)
		check(err)
		body, err := io.ReadAll(resp.Body)
		check(err)
		resp.Body.Close()
		if resp.StatusCode == 200 {
			fmt.Println(string(body))
		} else {
			fmt.Println(resp.Status)
		}
	}
	// Output:
	// hello from data.lab.test
	// 403 other.test is not on the allowlist
}

func ExampleProxy_Check() {
	allow, err := egress.ParseRule("data.example.org")
	check(err)
	rules := &egress.Rules{Allow: []egress.Rule{allow}}
	proxy := &egress.Proxy{Rules: func() (*egress.Rules, error) { return rules, nil }}
	target, err := egress.ParseHost("data.example.org:25", 443)
	check(err)
	report := proxy.Check(httptest.NewRequest("GET", "/", nil).Context(), target)
	fmt.Println(report.Verdict, report.Code, report.Rule)
	// Output: deny port-not-listed data.example.org
}

func ExampleParseRule() {
	for _, s := range []string{"*.Example.org", "bücher.example", "https://example.org/simple"} {
		r, err := egress.ParseRule(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r)
	}
	// Output:
	// *.example.org
	// xn--bcher-kva.example
	// rule "https://example.org/simple": a URL is no rule; drop the scheme and the path; write "example.org"
}

func ExampleParseAuthority() {
	for _, s := range []string{"Example.ORG.:443", "[::ffff:192.0.2.1]:443", "2130706433:443"} {
		t, err := egress.ParseAuthority(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(t)
	}
	// Output:
	// example.org:443
	// 192.0.2.1:443
	// target "2130706433": a host that ends in a number is an address, and this one is not four decimal numbers
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
