package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clientHello is what Go's client sends first.
func clientHello(t testing.TB, config *tls.Config) []byte {
	inside, outside := net.Pipe()
	defer outside.Close()
	go tls.Client(inside, config).Handshake()
	head := make([]byte, 5)
	_, err := outside.Read(head)
	require.NoError(t, err)
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	_, err = outside.Read(body)
	require.NoError(t, err)
	return append(head, body...)
}

// serverNameOf is what Go's server reads.
func serverNameOf(b []byte) (string, error) {
	return (&helloConn{first: b, client: bytes.NewReader(nil)}).serverName(context.Background())
}

var helloConfigs = map[string]*tls.Config{
	"usual":       {ServerName: "allowed.test"},
	"old":         {ServerName: "allowed.test", MaxVersion: tls.VersionTLS12},
	"many things": {ServerName: "a-b.allowed.test", NextProtos: []string{"h2", "http/1.1"}, ClientSessionCache: tls.NewLRUClientSessionCache(1)},
	"no name":     {ServerName: "192.0.2.1"},
}

func TestThePlainNameIsTheOneThatTLSReads(t *testing.T) {
	for what, config := range helloConfigs {
		hello := clientHello(t, config)
		want, err := serverNameOf(hello)
		require.NoError(t, err, what)
		for _, tail := range []string{"", "early"} {
			name, ok := plainName(append(slices.Clone(hello), tail...))
			assert.True(t, ok, what)
			assert.Equal(t, want, name, what)
		}
	}
}

// helloOf builds a ClientHello out of its extensions.
func helloOf(extensions ...[]byte) []byte {
	body := append([]byte{3, 3}, make([]byte, 32)...)
	body = append(body, 0)                // session
	body = append(body, 0, 2, 0x13, 0x01) // cipher suites
	body = append(body, 1, 0)             // compressions
	body = append(body, lengthThen(2, slices.Concat(extensions...))...)
	return append([]byte{recordHandshake, 3, 1}, lengthThen(2, append([]byte{messageHello}, lengthThen(3, body)...))...)
}

func lengthThen(n int, b []byte) []byte {
	length := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
	return append(length[4-n:], b...)
}

func extension(kind uint16, body []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, kind), lengthThen(2, body)...)
}

func named(names ...string) []byte {
	var list []byte
	for _, n := range names {
		list = append(append(list, nameHost), lengthThen(2, []byte(n))...)
	}
	return extension(extensionName, lengthThen(2, list))
}

func TestAnUnusualHelloIsNotReadPlainly(t *testing.T) {
	usual := helloOf(named("allowed.test"))
	name, ok := plainName(usual)
	require.True(t, ok)
	require.Equal(t, "allowed.test", name)

	two := slices.Clone(usual[5:])
	two = append(two, two...)
	for what, hello := range map[string][]byte{
		"two lists of names":      helloOf(named("allowed.test"), named("other.test")),
		"two names":               helloOf(named("allowed.test", "other.test")),
		"an empty name":           helloOf(named("")),
		"a final dot":             helloOf(named("allowed.test.")),
		"another kind of name":    helloOf(extension(extensionName, lengthThen(2, append([]byte{1}, lengthThen(2, []byte("allowed.test"))...)))),
		"more behind the list":    helloOf(extension(extensionName, append(lengthThen(2, append([]byte{0}, lengthThen(2, []byte("allowed.test"))...)), 0))),
		"the same thing twice":    helloOf(named("allowed.test"), extension(23, nil), extension(23, nil)),
		"a hello within":          helloOf(named("allowed.test"), extension(extensionECH, nil)),
		"half an extension":       helloOf(named("allowed.test"), []byte{0, 23, 0}),
		"two messages":            append(usual[:3:3], lengthThen(2, two)...),
		"a message in two pieces": append(append(usual[:3:3], lengthThen(2, usual[5:20])...), append(usual[:3:3], lengthThen(2, usual[20:])...)...),
		"another message":         append(append(usual[:5:5], 2), usual[6:]...),
		"another record":          append([]byte{23}, usual[1:]...),
		"another protocol":        append([]byte{recordHandshake, 2}, usual[2:]...),
	} {
		_, ok := plainName(hello)
		assert.False(t, ok, what)
	}
	for n := range usual {
		_, ok := plainName(usual[:n])
		assert.False(t, ok, "%d bytes", n)
	}
}

// What is read plainly, Go's TLS reads alike, or refuses.
func FuzzHelloName(f *testing.F) {
	for _, config := range helloConfigs {
		f.Add(clientHello(f, config))
	}
	f.Add(helloOf(named("allowed.test"), extension(23, nil)))
	f.Add(helloOf(named("allowed.test", "other.test")))
	f.Fuzz(func(t *testing.T, b []byte) {
		name, ok := plainName(b)
		if !ok {
			return
		}
		if other, err := serverNameOf(b); err == nil {
			require.Equal(t, other, name)
		}
	})
}
