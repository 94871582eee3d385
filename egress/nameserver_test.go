package egress

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers on a real socket by its records, a name each with its
// final dot. What it does not have is NXDOMAIN.
type nameServer struct {
	conn    net.PacketConn
	records map[string][]netip.Addr

	mu    sync.Mutex
	asked []string
	done  chan struct{}
}

func serveNames(address string, records map[string][]netip.Addr) (*nameServer, error) {
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, err
	}
	s := &nameServer{conn: conn, records: records, done: make(chan struct{})}
	go s.serve()
	return s, nil
}

func (s *nameServer) Close() {
	s.conn.Close()
	<-s.done
}

func (s *nameServer) serve() {
	defer close(s.done)
	buf := make([]byte, 4096)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		s.mu.Lock()
		s.asked = append(s.asked, m.Questions[0].Name.String())
		s.mu.Unlock()
		if reply, err := s.answer(m); err == nil {
			s.conn.WriteTo(reply, from)
		}
	}
}

// nameServerOf is one on loopback until the test ends, and a resolver that asks it.
func nameServerOf(t *testing.T, records map[string][]netip.Addr) (*net.Resolver, *nameServer) {
	s, err := serveNames("127.0.0.1:0", records)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}
	return &net.Resolver{PreferGo: true, Dial: dial}, s
}

// questions are the names that it was asked for, one after the other.
func (s *nameServer) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// names are those that it was asked for, each once.
func (s *nameServer) names() []string {
	return slices.Compact(slices.Sorted(slices.Values(s.questions())))
}

// answer leads to the addresses of the right family by way of a CNAME.
func (s *nameServer) answer(m dnsmessage.Message) ([]byte, error) {
	q := m.Questions[0]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}
	m.Additionals = nil
	addrs, ok := s.records[q.Name.String()]
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
		return m.Pack()
	}
	alias := dnsmessage.MustNewName("alias.elsewhere.example.")
	add := func(name dnsmessage.Name, kind dnsmessage.Type, body dnsmessage.ResourceBody) {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: name, Class: q.Class, Type: kind}, Body: body})
	}
	add(q.Name, dnsmessage.TypeCNAME, &dnsmessage.CNAMEResource{CNAME: alias})
	for _, a := range addrs {
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			add(alias, dnsmessage.TypeA, &dnsmessage.AResource{A: a.As4()})
		case !a.Is4() && q.Type == dnsmessage.TypeAAAA:
			add(alias, dnsmessage.TypeAAAA, &dnsmessage.AAAAResource{AAAA: a.As16()})
		}
	}
	return m.Pack()
}

// Go's own resolver over a real socket: an alias that ends inward is refused,
// one that ends outside the list of names is not, and a name without a record
// is a failure of its own. No search domain is ever tried.
func TestRealNameServer(t *testing.T) {
	resolver, names := nameServerOf(t, map[string][]netip.Addr{
		"in.allowed.test.":    addrs("169.254.169.254"),
		"out.allowed.test.":   addrs("192.0.2.9"),
		"mixed.allowed.test.": addrs("192.0.2.9", "2606:4700::1", "::1"),
	})
	w := newWorld(t, func(w *world) { w.proxy.Resolver = resolver })
	for host, want := range map[string]string{
		"in.allowed.test":    "HTTP/1.1 403 in.allowed.test leads to 169.254.169.254, a metadata address\r\n",
		"mixed.allowed.test": "HTTP/1.1 403 mixed.allowed.test leads to ::1, a loopback address\r\n",
		"out.allowed.test":   "HTTP/1.1 200 Connection established\r\n",
		"none.allowed.test":  "HTTP/1.1 502 none.allowed.test has no address\r\n",
	} {
		line, _ := w.call("CONNECT " + host + ":443 HTTP/1.1\r\n\r\n").answerHead()
		assert.Equal(t, want, line)
	}
	assert.Equal(t, []string{"192.0.2.9:443"}, w.dialled)
	assert.Equal(t, []string{"in.allowed.test.", "mixed.allowed.test.", "none.allowed.test.", "out.allowed.test."}, names.names())
}
