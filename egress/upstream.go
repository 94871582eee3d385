package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// lookupBeside bounds the look-up of a name whose address a proxy in front
// chooses. Behind such a proxy hosts often have no name server for the world
// outside, and one that drops every question must not hold each connection up.
const lookupBeside = 2 * time.Second

// front is the proxy that t goes through, nil for none. What the operator has
// pinned, or said to lie inward, is near, and goes there directly.
func (p *Proxy) front(rules *Rules, t Target, d Decision) (*url.URL, error) {
	if p.Upstream == nil || d.Pin.IsValid() || rules.near(t) {
		return nil, nil
	}
	u, err := p.Upstream(t)
	if err != nil || u == nil {
		return nil, err
	}
	return u, spoken(u)
}

// spoken is the error for a proxy that is spoken to in no way that is known here.
func spoken(u *url.URL) error {
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return &ProxyError{Proxy: proxyName(u), What: fmt.Sprintf("its scheme %q is neither http nor https", u.Scheme)}
	}
	return nil
}

// near is true when an inward exception names the host.
func (r *Rules) near(t Target) bool {
	for _, i := range r.Inward {
		if i.name != "" && i.name == t.Name {
			return true
		}
	}
	return false
}

// ProxyError says what a proxy in front did instead of letting a connection
// through. It never holds the user and password of the proxy's URL.
type ProxyError struct {
	Proxy  string // HOST:PORT
	Status int    // of its answer; zero when there was none
	Phrase string // of its answer
	What   string // instead of an answer
}

func (e *ProxyError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("the proxy %s: %s", e.Proxy, e.What)
	}
	return strings.TrimSpace(fmt.Sprintf("the proxy %s says %d %s", e.Proxy, e.Status, e.Phrase))
}

// through reaches the target by way of the proxy in front: by CONNECT, or for
// a plain request, which is sent in absolute form, the proxy itself.
func (p *Proxy) through(ctx context.Context, t *trip) (net.Conn, error) {
	var conn net.Conn
	var err error
	if t.absolute {
		conn, err = dialFront(ctx, t.front, p.TLS)
	} else {
		conn, err = DialProxy(ctx, t.front, t.target.String(), p.TLS)
	}
	if err != nil {
		return nil, t.frontFault(ctx, err)
	}
	return conn, nil
}

// address makes a plain request one for the proxy in front: the target in
// full, and its login. An answer of 403 may then be the proxy's or the host's,
// and passes.
func (t *trip) address(req *http.Request, path string) {
	if path == "*" { // OPTIONS for the host itself has an empty path in this form
		path = ""
	}
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery, req.URL.ForceQuery = "", "", "", false
	req.URL.Opaque = "//" + req.Host + path
	if l := login(t.front); l != "" {
		req.Header.Set("Proxy-Authorization", l)
	}
}

// frontFault is always 502 or 504: 407 would have a client ask its user for a
// password, and 403 would be taken for a rule of ours.
func (t *trip) frontFault(ctx context.Context, err error) *refusal {
	if r := t.cutShort(ctx, CodeProxyFailed, "the proxy "+proxyName(t.front)+" took too long"); r != nil {
		return r
	}
	var pe *ProxyError
	if errors.As(err, &pe) && pe.Status != 0 {
		return t.fail(502, CodeProxyRefused, pe.Error())
	}
	return t.fail(502, CodeProxyFailed, err.Error())
}
