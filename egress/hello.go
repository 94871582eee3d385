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

// inspectWhole compares the host that the ClientHello in first names with t,
// where that can be read from first alone. What is not TLS passes: a tunnel may
// carry anything.
func inspectWhole(t Target, first []byte) (whole bool, err error) {
	if len(first) == 0 || first[0] != recordHandshake {
		return true, nil
	}
	name, ok := plainName(first)
	return ok, judgeName(name, t)
}

// inspect does so for any ClientHello that begins with first, and reads the rest
// of it from the client. It returns everything that was read.
func inspect(ctx context.Context, t Target, first []byte, client io.Reader) ([]byte, error) {
	c := &helloConn{first: first, client: client}
	name, err := c.serverName(ctx)
	if err == nil {
		err = judgeName(name, t)
	}
	return append(c.read.Bytes(), c.first...), err
}

func judgeName(name string, t Target) error {
	if name != "" && !sameName(name, t) {
		return errServerName
	}
	return nil
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
