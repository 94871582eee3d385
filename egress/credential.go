package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Secret is a value that is never printed.
type Secret string

const hidden = "(secret)"

// Format keeps the value out of whatever a Secret is printed into, by any
// verb: for one that strings do not have, fmt would print the value itself.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, hidden) }

// String is what Format prints.
func (s Secret) String() string { return hidden }

// GoString is String for %#v.
func (s Secret) GoString() string { return hidden }

// MarshalText is String for JSON and its like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Credential is a header that the proxy adds to requests to one host, so that
// whoever asks need not have it. It is added to what a client asks for as
// http:// and what the proxy therefore sees; such a request goes to the host
// as https://. What goes through CONNECT stays as the client made it.
type Credential struct {
	Host   string // an exact name, as ParseHost gives it
	Header string // its name, as Authorization
	// Value gives the whole value of the header. It is called for every
	// request, with the request's context; an error, which must not hold the
	// value, is answered with 502.
	Value func(context.Context) (Secret, error)
}

// String names the credential, never its value.
func (c Credential) String() string { return c.Header + " for " + c.Host }

// credentialsFor are those of the host of t.
func (p *Proxy) credentialsFor(t Target) []Credential {
	if p.Credentials == nil || t.Name == "" {
		return nil
	}
	var out []Credential
	for _, c := range p.Credentials() {
		if c.Host == t.Name {
			out = append(out, c)
		}
	}
	return out
}

// secured is the target of a request that is sent on with credentials: they
// never travel in the clear.
func secured(t Target) Target {
	if t.Port == 80 {
		t.Port = 443
	}
	return t
}

// stamp puts the credentials in the place of whatever the client sent under
// their names.
func (x *exchange) stamp(ctx context.Context, h http.Header) *refusal {
	for _, c := range x.credentials {
		value, err := c.Value(ctx)
		text := strings.TrimRight(string(value), "\r\n")
		switch {
		case err != nil:
			return x.trip.fail(502, CodeCredential, fmt.Sprintf("the credential %s cannot be had: %v", c, err))
		case text == "" || !httpguts.ValidHeaderFieldValue(text):
			return x.trip.fail(502, CodeCredential, fmt.Sprintf("the credential %s is empty or holds what no header may", c))
		}
		h.Set(c.Header, text)
	}
	return nil
}

// tlsConfig is for connections to hosts that get credentials. HTTP/1.1 alone:
// what the client is told must be what the host said.
func (p *Proxy) tlsConfig() *tls.Config {
	if p.TLS == nil {
		return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	c := p.TLS.Clone()
	c.NextProtos = []string{"http/1.1"}
	return c
}
