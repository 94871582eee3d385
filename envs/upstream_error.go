package envs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// The causes of a failed fetch, as measured by the gateway.
const (
	CauseDNS     = "dns"     // the host's name has no address
	CauseConnect = "connect" // nothing answers there
	CauseProxy   = "proxy"   // the host's own proxy refused or is down
	CauseTLS     = "tls"     // the certificate is not trusted, or no TLS at all
	CauseTimeout = "timeout"
	CauseStatus  = "status" // the index answered with Status
	CauseFormat  = "format" // the index answered with something that is no index page
	CauseCut     = "cut"    // the connection ended within the answer
	CauseOther   = "other"
)

// UpstreamError is a fetch from the index that failed.
type UpstreamError struct {
	URL    string // without credentials and query
	Host   string
	Cause  string // one of the Cause words
	Status int    // 0 unless Cause is CauseStatus
	Err    error  // nil when Cause is CauseStatus
}

func (e *UpstreamError) Error() string {
	s := plain.Line(e.URL, 300) + ": "
	if e.Cause == CauseStatus {
		return s + fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	}
	return s + plain.Line(e.Err.Error(), 300) + " (" + e.Cause + ")"
}

func (e *UpstreamError) Unwrap() error { return e.Err }

func statusError(u *url.URL, status int) *UpstreamError {
	return &UpstreamError{URL: bare(u), Host: u.Host, Cause: CauseStatus, Status: status}
}

func upstreamError(u *url.URL, err error) *UpstreamError {
	var ue *url.Error
	if errors.As(err, &ue) { // its text repeats the URL with all that stands in it
		if at, parseErr := url.Parse(ue.URL); parseErr == nil && at.Host != "" {
			u = at // where a redirect led
		}
		err = ue.Err
	}
	return &UpstreamError{URL: bare(u), Host: u.Host, Cause: causeOf(err), Err: err}
}

// bare leaves out what may be a secret: user, query, fragment.
func bare(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func causeOf(err error) string {
	var (
		dns    *net.DNSError
		op     *net.OpError
		ca     x509.UnknownAuthorityError
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
		netErr net.Error
	)
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return CauseProxy
	case errors.As(err, &dns):
		return CauseDNS
	case errors.As(err, &verify), errors.As(err, &ca), errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return CauseTLS
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return CauseTimeout
	case errors.As(err, &op):
		return CauseConnect
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return CauseCut
	}
	return CauseOther
}
