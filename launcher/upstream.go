package launcher

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/kernel-launch/kernel-launch/egress"
)

// Upstream gives the proxy in front of this machine by HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as getenv has them, in small letters first. HTTP_PROXY is for
// port 80, HTTPS_PROXY for every other. A variable that is no URL is an error for the hosts that it would lead to: going past the proxy is not for us to choose.
func Upstream(getenv func(string) string) func(egress.Target) (*url.URL, error) {
	plain, plainErr := frontBy(getenv, "http_proxy", "HTTP_PROXY")
	tls, tlsErr := frontBy(getenv, "https_proxy", "HTTPS_PROXY")
	if plain == "" && tls == "" {
		return nil
	}
	_, exempt := first(getenv, "no_proxy", "NO_PROXY")
	choose := (&httpproxy.Config{HTTPProxy: plain, HTTPSProxy: tls, NoProxy: exempt}).ProxyFunc()
	by := func(scheme string, broken error, t egress.Target) (*url.URL, error) {
		u, err := choose(&url.URL{Scheme: scheme, Host: t.String()})
		if u != nil && broken != nil {
			return nil, broken
		}
		return u, err
	}
	return func(t egress.Target) (*url.URL, error) {
		if t.Port == 80 {
			return by("http", plainErr, t)
		}
		return by("https", tlsErr, t)
	}
}

// frontBy reads one variable. In the place of what cannot be read stands a proxy that is never spoken to, so that NO_PROXY counts all the same.
func frontBy(getenv func(string) string, names ...string) (string, error) {
	name, value := first(getenv, names...)
	if value == "" {
		return "", nil
	}
	probe := &httpproxy.Config{HTTPSProxy: value}
	u, err := probe.ProxyFunc()(&url.URL{Scheme: "https", Host: "host.invalid"})
	if err != nil || u == nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" { // what is no URL comes back as a path
		return "http://unreadable.invalid", fmt.Errorf("the host's %s %w", name, errNoURL) // not the value: it may hold a password
	}
	return value, nil
}

var errNoURL = errors.New("is no URL of a proxy")

func first(getenv func(string) string, names ...string) (name, value string) {
	for _, n := range names {
		if v := getenv(n); v != "" {
			return n, v
		}
	}
	return "", ""
}
