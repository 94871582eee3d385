package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// proxyName is HOST:PORT of a proxy's URL.
func proxyName(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// login is the value of Proxy-Authorization, empty without a user.
func login(u *url.URL) string {
	if u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
}

// DialProxy connects to target, HOST:PORT, through the CONNECT of the proxy at
// u, an http:// or https:// URL whose user and password, if any, it gets. Nil
// config is TLS as the system has it, for an https:// proxy. An error is a
// *ProxyError, or the cause with which ctx ended.
func DialProxy(ctx context.Context, u *url.URL, target string, config *tls.Config) (net.Conn, error) {
	if err := spoken(u); err != nil {
		return nil, err
	}
	conn, err := dialFront(ctx, u, config)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(past) })
	through, err := askThrough(conn, u, target)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return through, nil
}

// dialFront connects to the proxy itself. It is the operator's choice, so its
// address is not screened; its name may be a short one of the site.
func dialFront(ctx context.Context, u *url.URL, config *tls.Config) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", proxyName(u))
	if err != nil {
		return nil, &ProxyError{Proxy: proxyName(u), What: "cannot be reached: " + osReason(err)}
	}
	if u.Scheme != "https" {
		return conn, nil
	}
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config = config.Clone()
	config.ServerName, config.NextProtos = u.Hostname(), []string{"http/1.1"}
	t := tls.Client(conn, config)
	if err := t.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &ProxyError{Proxy: proxyName(u), What: "TLS failed: " + err.Error()}
	}
	return t, nil
}

// askThrough sends CONNECT and reads the answer. A host that speaks first may have
// done so already: what came behind the answer is kept.
func askThrough(conn net.Conn, u *url.URL, target string) (net.Conn, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", target, target)
	if l := login(u); l != "" {
		fmt.Fprintf(&b, "Proxy-Authorization: %s\r\n", l)
	}
	b.WriteString("\r\n")
	if _, err := io.WriteString(conn, b.String()); err != nil {
		return nil, &ProxyError{Proxy: proxyName(u), What: "broke off: " + osReason(err)}
	}
	r := bufio.NewReaderSize(&io.LimitedReader{R: conn, N: 64 << 10}, 4<<10)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, &ProxyError{Proxy: proxyName(u), What: "broke off, or its answer is not HTTP"}
	}
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return nil, &ProxyError{Proxy: proxyName(u), Status: resp.StatusCode, Phrase: phraseOf(resp)}
	}
	if r.Buffered() == 0 {
		return conn, nil
	}
	first := make([]byte, r.Buffered())
	io.ReadFull(r, first)
	return &begun{Conn: conn, first: bytes.NewReader(first)}, nil
}

// begun is a connection whose first bytes have been read.
type begun struct {
	net.Conn
	first *bytes.Reader
}

func (b *begun) Read(p []byte) (int, error) {
	if b.first.Len() > 0 {
		return b.first.Read(p)
	}
	return b.Conn.Read(p)
}

// CloseWrite is the connection's own.
func (b *begun) CloseWrite() error { return closeWrite(b.Conn) }
