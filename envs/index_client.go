package envs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// CertificateError is a file of certificates that the operator named and that cannot be used.
type CertificateError struct {
	Path string
	Err  error
}

func (e *CertificateError) Error() string {
	return fmt.Sprintf("certificates in %s: %v", e.Path, e.Err)
}

func (e *CertificateError) Unwrap() error { return e.Err }

// NewClient returns a client that trusts the system's certificates and those of the settings, and goes through the host's proxy.
func (i IndexSettings) NewClient() (*http.Client, error) {
	pool, err := i.pool()
	if err != nil {
		return nil, err
	}
	proxy := i.proxy.ProxyFunc()
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:                 func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:           dialer.DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   30 * time.Second,
		ResponseHeaderTimeout: 60 * time.Second,
		IdleConnTimeout:       30 * time.Second,
		MaxIdleConnsPerHost:   8,
		ForceAttemptHTTP2:     true,
	}}, nil
}

func (i IndexSettings) pool() (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // some systems have none; the operator's files may be all there is
	}
	var errs []error
	for _, f := range i.Certificates {
		data, err := os.ReadFile(f)
		if err == nil && !pool.AppendCertsFromPEM(data) {
			err = errors.New("it holds no PEM certificate")
		}
		if err != nil {
			errs = append(errs, &CertificateError{f, err})
		}
	}
	return pool, errors.Join(errs...)
}

// ownHost adds the credentials to requests to the index's own origin. It works below the redirects, so no other host ever sees them.
type ownHost struct {
	next        http.RoundTripper
	index       *url.URL
	credentials Credentials
}

func (t ownHost) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	r.Header.Del("Cookie")
	if !t.credentials.empty() && r.URL.Scheme == t.index.Scheme && r.URL.Host == t.index.Host {
		r.SetBasicAuth(t.credentials.User, string(t.credentials.Password))
	}
	return t.next.RoundTrip(r)
}

// guard returns client with the credentials in place and redirects bounded.
func guard(client *http.Client, index *url.URL, c Credentials) *http.Client {
	g := *client
	g.Jar = nil
	if g.Transport == nil {
		g.Transport = http.DefaultTransport
	}
	g.Transport = ownHost{g.Transport, index, c}
	g.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch last := via[len(via)-1]; {
		case len(via) >= 10:
			return errors.New("it redirects more than ten times")
		case last.URL.Scheme == "https" && r.URL.Scheme != "https":
			return fmt.Errorf("it redirects from https to %s", r.URL.Scheme)
		}
		return nil
	}
	return &g
}
