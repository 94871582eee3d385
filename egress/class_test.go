package egress

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// One row for each row of the class table, and their borders.
func TestClassify(t *testing.T) {
	for in, want := range map[string]Class{
		"127.0.0.1": ClassLoopback, "127.255.255.255": ClassLoopback, "10.0.0.0": ClassPrivate, "10.255.255.255": ClassPrivate,
		"172.15.255.255": ClassPublic, "172.16.0.1": ClassPrivate, "172.31.255.255": ClassPrivate, "172.32.0.0": ClassPublic,
		"192.168.1.1": ClassPrivate, "169.254.1.1": ClassLinkLocal, "169.254.169.254": ClassMetadata,
		"100.63.255.255": ClassPublic, "100.64.0.1": ClassShared, "100.127.255.255": ClassShared, "100.128.0.0": ClassPublic, "100.100.100.200": ClassMetadata,
		"0.0.0.0": ClassUnspecified, "0.1.2.3": ClassUnspecified,
		"192.0.0.1": ClassReserved, "192.0.0.192": ClassMetadata, "192.0.1.0": ClassPublic,
		"192.0.2.1": ClassDocumentation, "198.51.100.1": ClassDocumentation, "203.0.113.1": ClassDocumentation,
		"192.88.99.1": ClassEmbedded, "198.18.0.1": ClassBenchmark, "198.19.255.255": ClassBenchmark, "198.20.0.0": ClassPublic,
		"224.0.0.1": ClassMulticast, "239.255.255.255": ClassMulticast, "240.0.0.1": ClassReserved, "255.255.255.255": ClassReserved,
		"168.63.129.16": ClassMetadata, "168.63.129.17": ClassPublic, "1.1.1.1": ClassPublic, "93.184.216.34": ClassPublic,
		"::1": ClassLoopback, "::": ClassUnspecified, "fc00::1": ClassPrivate, "fdff::1": ClassPrivate, "fd00:ec2::254": ClassMetadata, "fd20:ce::254": ClassMetadata, "fd00:c1::a9fe:a9fe": ClassMetadata, "fd00:42::42": ClassMetadata,
		"fe80::1": ClassLinkLocal, "febf::1": ClassLinkLocal, "fec0::1": ClassReserved, "ff02::1": ClassMulticast,
		"::ffff:127.0.0.1": ClassLoopback, "::ffff:10.0.0.1": ClassPrivate, "::ffff:1.1.1.1": ClassPublic,
		"::127.0.0.1": ClassEmbedded, "::1.1.1.1": ClassEmbedded, "::ffff:0:127.0.0.1": ClassEmbedded,
		"64:ff9b::7f00:1": ClassEmbedded, "64:ff9b:1::1": ClassEmbedded, "2002:7f00:1::": ClassEmbedded, "2001:0:7f00:1::80ff:fffe": ClassEmbedded,
		"2001:2::1": ClassReserved, "2001:10::1": ClassReserved, "2001:20::1": ClassReserved, "2001:db8::1": ClassDocumentation, "100::1": ClassReserved,
		"3fff::1": ClassReserved, "3fff:1000::1": ClassPublic, "5f00::1": ClassReserved, "4000::1": ClassReserved, "1::1": ClassReserved,
		"2606:4700::1": ClassPublic, "2a00::1": ClassPublic, "2001:200::1": ClassPublic, "fe80::1%eth0": ClassInvalid, "2606:4700::1%x": ClassInvalid,
	} {
		assert.Equal(t, want, Classify(netip.MustParseAddr(in)), in)
	}
	assert.Equal(t, ClassInvalid, Classify(netip.Addr{}))
}

func TestEveryClassPrints(t *testing.T) {
	assert.Len(t, classNames, int(ClassReserved)+1)
	for _, r := range classTable {
		assert.NotEmpty(t, r.class.String())
		assert.Equal(t, r.prefix, r.prefix.Masked(), "a row has bits behind its length")
	}
	assert.Equal(t, "class 99", Class(99).String())
}

func TestScreen(t *testing.T) {
	inward, err := ParseInward("mirror.corp.example", "10.20.0.0/16")
	require.NoError(t, err)
	shared, err := ParseInward("mirror.corp.example", "100.64.0.0/10")
	require.NoError(t, err)
	for _, c := range []struct {
		screen     Screen
		host, addr string
		pass       bool
	}{
		{"", "x.example", "1.1.1.1", true},
		{"", "x.example", "192.0.2.1", true},
		{ScreenNormal, "x.example", "2001:db8::1", true},
		{ScreenStrict, "x.example", "192.0.2.1", false},
		{ScreenStrict, "x.example", "2001:db8::1", false},
		{ScreenStrict, "x.example", "1.1.1.1", true},
		{"unknown", "x.example", "192.0.2.1", false},
		{"", "x.example", "100.64.0.1", false},
		{"", "x.example", "10.20.3.4", false},
		{"", "mirror.corp.example", "10.20.3.4", true},
		{"", "mirror.corp.example", "10.21.0.1", false},
		{"", "mirror.corp.example", "169.254.169.254", false},
		{"", "mirror.corp.example", "127.0.0.1", false},
		{"", "mirror.corp.example", "100.64.0.1", true},
		{"", "mirror.corp.example", "100.100.100.200", false},
		{"", "sub.mirror.corp.example", "10.20.3.4", false},
	} {
		r := &Rules{Screen: c.screen, Inward: []Inward{inward, shared}}
		_, pass := r.screen(Target{Name: c.host}, netip.MustParseAddr(c.addr))
		assert.Equal(t, c.pass, pass, "%s %s %s", c.screen, c.host, c.addr)
	}
}
