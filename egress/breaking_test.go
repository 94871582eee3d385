package egress

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// broken is a connection that is going to be broken off. The name that it asks
// for begins with its number, and its place is where it gets to.
type broken struct {
	number  uint32
	place   string
	reached chan struct{} // its place
	over    chan struct{} // it has been reported
	reports atomic.Int32
}

// breaking is a proxy with its resolver, its dialler and the one host behind
// it, which know each connection by its name.
type breaking struct {
	proxy         *Proxy
	addr, origin  string
	all           sync.Map // number to *broken
	begun, events atomic.Uint32
	dialer        net.Dialer
}

func newBreaking(t *testing.T, event func(Event)) *breaking {
	rules := mustRules(".allowed.test")
	rules.Deny = mustRules(".denied.allowed.test").Allow
	b := &breaking{dialer: net.Dialer{KeepAlive: -1}} // four calls of the system less for each connection
	b.proxy = &Proxy{
		Rules: func() (*Rules, error) { return rules, nil }, Resolver: b, Dial: b.dial, Bounds: Bounds{Connections: 1 << 20},
		Event: func(e Event) { event(e); b.event(e) },
	}
	b.origin = listen(t, b.serve)
	quiet := net.ListenConfig{KeepAlive: -1}
	l, err := quiet.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b.addr = l.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { assert.NoError(t, b.proxy.Serve(l)) })
	t.Cleanup(func() { assert.NoError(t, b.proxy.Close()); serving.Wait() })
	return b
}

func (b *breaking) find(host string) *broken {
	text, _, _ := strings.Cut(host, ".")
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return nil
	}
	x, ok := b.all.Load(uint32(n))
	if !ok {
		return nil
	}
	return x.(*broken)
}

func (b *breaking) event(e Event) {
	b.events.Add(1)
	if x := b.find(e.Host); x != nil && x.reports.Add(1) == 1 {
		close(x.over)
	}
}

// LookupNetIP puts the number into the address, so that the dial knows it.
func (b *breaking) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	x := b.find(host)
	if x.place == "lookup" {
		close(x.reached)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	a := netip.MustParseAddr("2001:db8::").As16()
	binary.BigEndian.PutUint32(a[12:], x.number)
	return []netip.Addr{netip.AddrFrom16(a)}, nil
}

func (b *breaking) dial(ctx context.Context, _, address string) (net.Conn, error) {
	a := netip.MustParseAddrPort(address).Addr().As16()
	x := b.find(strconv.Itoa(int(binary.BigEndian.Uint32(a[12:]))))
	if x.place == "dial" {
		close(x.reached)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return b.dialer.DialContext(ctx, "tcp", b.origin)
}

// serve is the host. It reads a request and leaves it at its place until the
// connection has been reported; then it resets, so that no port stays taken.
func (b *breaking) serve(c *net.TCPConn) {
	c.SetLinger(0)
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	x := b.find(req.Host)
	switch x.place {
	case "body":
		io.ReadFull(req.Body, make([]byte, 4))
	case "answer":
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf of it")
	case "end":
		io.ReadAll(c)
		io.WriteString(c, "what is not read")
	case "half":
		c.CloseWrite()
	case "reset":
		return
	}
	close(x.reached)
	<-x.over
}
