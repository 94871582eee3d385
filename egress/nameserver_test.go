package egress

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers on loopback: A records by name, reached by way of a
// CNAME. It gives Go's resolver that asks it, and the names it was asked for.
func nameServer(t *testing.T, records map[string][4]byte) (*net.Resolver, func() []string) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	asked, done := []string{}, make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			mu.Lock()
			asked = append(asked, m.Questions[0].Name.String())
			mu.Unlock()
			if reply, err := answerQuestion(m, records); err == nil {
				conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}, func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(asked) }
}

func answerQuestion(m dnsmessage.Message, records map[string][4]byte) ([]byte, error) {
	q := m.Questions[0]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}
	m.Additionals = nil
	a, ok := records[q.Name.String()]
	switch {
	case !ok:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		alias := dnsmessage.MustNewName("alias.elsewhere.example.")
		m.Answers = []dnsmessage.Resource{
			{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: dnsmessage.TypeCNAME}, Body: &dnsmessage.CNAMEResource{CNAME: alias}},
			{Header: dnsmessage.ResourceHeader{Name: alias, Class: q.Class, Type: dnsmessage.TypeA}, Body: &dnsmessage.AResource{A: a}},
		}
	}
	return m.Pack()
}

// Go's own resolver over a real socket: an alias that ends inward is refused,
// one that ends outside the list of names is not, and a name without a record
// is a failure of its own. No search domain is ever tried.
func TestRealNameServer(t *testing.T) {
	resolver, asked := nameServer(t, map[string][4]byte{"in.allowed.test.": {169, 254, 169, 254}, "out.allowed.test.": {192, 0, 2, 9}})
	w := newWorld(t, func(w *world) { w.proxy.Resolver = resolver })
	for host, want := range map[string]string{
		"in.allowed.test":   "HTTP/1.1 403 in.allowed.test leads to 169.254.169.254, a metadata address\r\n",
		"out.allowed.test":  "HTTP/1.1 200 Connection established\r\n",
		"none.allowed.test": "HTTP/1.1 502 none.allowed.test has no address\r\n",
	} {
		line, _ := w.call("CONNECT " + host + ":443 HTTP/1.1\r\n\r\n").answerHead()
		assert.Equal(t, want, line)
	}
	assert.Equal(t, []string{"192.0.2.9:443"}, w.dialled)
	for _, name := range asked() {
		assert.Contains(t, []string{"in.allowed.test.", "out.allowed.test.", "none.allowed.test."}, name)
	}
}
