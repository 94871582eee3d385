package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// recordHandshake is the first byte of every TLS connection.
const recordHandshake = 22

// unrecognizedName is the alert of RFC 6066 that answers a name which is not
// served: a fatal one, for clients to show.
var unrecognizedName = []byte{21, 3, 3, 0, 2, 2, 112}

// errServerName ends a tunnel whose TLS names another host than its CONNECT.
// Servers of many sites serve the one that TLS names, so the rule for the
// host of the CONNECT says nothing about it.
var errServerName = errors.New("TLS names another host")

// inspect reads the ClientHello that begins with first from the client and
// compares the host that it names with t. It returns everything that was
// read. What is not TLS passes: a tunnel may carry anything.
func inspect(ctx context.Context, t Target, first []byte, client io.Reader) ([]byte, error) {
	if len(first) == 0 || first[0] != recordHandshake {
		return first, nil
	}
	if name, ok := plainName(first); ok {
		if name != "" && !sameName(name, t) {
			return first, errServerName
		}
		return first, nil
	}
	c := &helloConn{first: first, client: client}
	name, err := c.serverName(ctx)
	if err == nil && name != "" && !sameName(name, t) {
		err = errServerName
	}
	return append(c.read.Bytes(), c.first...), err
}

func sameName(name string, t Target) bool {
	return sameASCII(strings.TrimSuffix(name, "."), t.Name)
}

// helloConn lets crypto/tls read a ClientHello: what it reads is kept, and
// what it would answer is dropped.
type helloConn struct {
	net.Conn // nil: nothing else of it is used
	first    []byte
	client   io.Reader
	read     bytes.Buffer
	broken   error // of the client's connection, which is nobody's fault
}

var errHelloSeen = errors.New("seen")

// serverName is the host that the ClientHello names, empty when it names
// none. A hello that Go's reader does not understand is an error: the server
// behind might understand it.
func (c *helloConn) serverName(ctx context.Context) (string, error) {
	var name string
	err := tls.Server(c, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name = h.ServerName
		return nil, errHelloSeen
	}}).HandshakeContext(ctx)
	switch {
	case errors.Is(err, errHelloSeen):
		return name, nil
	case c.broken != nil:
		return "", nil // the tunnel meets the same end
	}
	return "", errServerName
}

func (c *helloConn) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.read.Write(c.first[:n])
		c.first = c.first[n:]
		return n, nil
	}
	n, err := c.client.Read(p)
	c.read.Write(p[:n])
	if n == 0 && err != nil {
		c.broken = err
	}
	return n, err
}

func (c *helloConn) Write(p []byte) (int, error)      { return len(p), nil }
func (c *helloConn) Close() error                     { return nil }
func (c *helloConn) SetDeadline(time.Time) error      { return nil }
func (c *helloConn) SetReadDeadline(time.Time) error  { return nil }
func (c *helloConn) SetWriteDeadline(time.Time) error { return nil }
func (c *helloConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *helloConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
