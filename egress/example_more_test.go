package egress_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
)

// The client asks by http:// and has no key; the host gets the key, in TLS.
func ExampleCredential() {
	origin := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s by %s with %s", r.Host, r.Proto, r.Header.Get("Authorization"))
	}))
	defer origin.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(origin.Certificate())

	key := egress.Credential{
		Host: "example.com", Header: "Authorization",
		Value: func(context.Context) (egress.Secret, error) { return "Bearer of the key", nil },
	}
	rules := &egress.Rules{Allow: []egress.Rule{rule("example.com")}, Pins: []egress.Pin{pin("example.com", origin.Listener.Addr().String())}}
	proxy := &egress.Proxy{
		Rules:       func() (*egress.Rules, error) { return rules, nil },
		Credentials: func() []egress.Credential { return []egress.Credential{key} },
		TLS:         &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12},
	}
	l, err := proxy.Listen("127.0.0.1:0")
	check(err)
	go proxy.Serve(l)
	defer proxy.Close()

	fmt.Println(key)
	fmt.Println(get(l.Addr().String(), "http://example.com/"))
	// Output:
	// Authorization for example.com
	// 200 OK: example.com by HTTP/1.1 with Bearer of the key
}

// However it is printed or written, a Secret does not show its value. A
// conversion to string does.
func ExampleSecret() {
	s := egress.Secret("hunter2")
	text, err := json.Marshal(map[string]any{"key": s})
	check(err)
	fmt.Printf("%v %s %q %#v %+v %s\n", s, s, s, s, []egress.Secret{s}, text)
	fmt.Println(len(string(s)))
	// Output:
	// (secret) (secret) (secret) (secret) [(secret)] {"key":"(secret)"}
	// 7
}

// The first refusals of one kind are lines of their own; the rest of a minute
// is summed up in one.
func ExampleAudit() {
	folder, err := os.MkdirTemp("", "audit")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "egress.jsonl")

	audit := &egress.Audit{Path: path, Kernel: "k1", Environment: "default"}
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 100 {
		audit.Record(egress.Event{Time: at, Method: "CONNECT", Host: "other.test", Port: 443, Code: egress.CodeNotListed, End: egress.EndRefused})
	}
	check(audit.Close())

	log := &egress.LogReader{Path: path}
	defer log.Close()
	check(log.Read(func(e egress.Entry) {
		fmt.Println(e.Kernel, e.Verdict, e.Host, e.Code, e.Repeated)
	}))
	// Output:
	// k1 deny other.test not-listed 0
	// k1 deny other.test not-listed 0
	// k1 deny other.test not-listed 0
	// k1 deny other.test not-listed 97
}

// Read goes on where the last one ended, across rotations; a log that is not
// there yet is an empty one.
func ExampleLogReader() {
	folder, err := os.MkdirTemp("", "audit")
	check(err)
	defer os.RemoveAll(folder)
	log := &egress.LogReader{Path: filepath.Join(folder, "egress.jsonl")}
	defer log.Close()
	tell := func(e egress.Entry) { fmt.Println(e.Host, e.Verdict, e.Sent, e.Received) }
	check(log.Read(tell))

	audit := &egress.Audit{Path: log.Path}
	audit.Record(egress.Event{Time: time.Now(), Host: "data.test", Port: 443, Verdict: egress.Allow, Sent: 120, Received: 4096})
	check(log.Read(tell))
	audit.Record(egress.Event{Time: time.Now(), Host: "more.test", Port: 443, Verdict: egress.Allow, Sent: 7})
	check(audit.Close())
	check(log.Read(tell))
	// Output:
	// data.test allow 120 4096
	// more.test allow 7 0
}

// Behind a proxy of the site, names go on to it. What is pinned does not.
func ExampleProxy_upstream() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "the site's proxy is asked for %s", r.RequestURI)
	}))
	defer site.Close()
	front, err := url.Parse(site.URL)
	check(err)
	rules := &egress.Rules{Allow: []egress.Rule{rule("data.example.org")}}
	proxy := &egress.Proxy{
		Rules:    func() (*egress.Rules, error) { return rules, nil },
		Resolver: hosts{}, // knows no name of the world outside, as behind such proxies
		Upstream: func(egress.Target) (*url.URL, error) { return front, nil },
	}
	l, err := proxy.Listen("127.0.0.1:0")
	check(err)
	go proxy.Serve(l)
	defer proxy.Close()

	fmt.Println(get(l.Addr().String(), "http://data.example.org/x"))
	// Output: 200 OK: the site's proxy is asked for http://data.example.org/x
}

// The line that would allow a refused host is up to who runs the proxy.
func ExampleProxy_remedy() {
	proxy := &egress.Proxy{
		Rules:  func() (*egress.Rules, error) { return &egress.Rules{}, nil },
		Remedy: func(e egress.Event) string { return "ask the operator for " + e.Host },
	}
	l, err := proxy.Listen("127.0.0.1:0")
	check(err)
	go proxy.Serve(l)
	defer proxy.Close()

	fmt.Println(get(l.Addr().String(), "http://data.test/"))
	// Output:
	// 403 data.test is not on the allowlist: {"schema":1,"code":"not-listed","error":"data.test is not on the allowlist","host":"data.test","port":80,"allow":"ask the operator for data.test"}
}
