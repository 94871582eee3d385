package egress

import (
	"net/netip"
	"strconv"
)

// Class says what kind of address an address is. The zero value is no
// address at all, and is refused like everything but Public.
type Class uint8

// The classes. Documentation ranges count as public unless the screen is
// strict: private mirrors and test set-ups live there.
const (
	ClassInvalid       Class = iota // no address, or one with a zone
	ClassPublic                     // what the world routes
	ClassDocumentation              // such as 192.0.2.0/24
	ClassUnspecified                // 0.0.0.0/8 and ::, which dial the machine itself
	ClassLoopback                   // 127.0.0.0/8 and ::1
	ClassLinkLocal                  // 169.254.0.0/16 and fe80::/10
	ClassMetadata                   // where clouds hand out a machine's credentials, such as 169.254.169.254
	ClassPrivate                    // such as 10.0.0.0/8 and fc00::/7
	ClassShared                     // 100.64.0.0/10, of carriers
	ClassBenchmark                  // 198.18.0.0/15
	ClassMulticast                  // 224.0.0.0/4 and ff00::/8
	ClassEmbedded                   // an IPv6 address that holds an IPv4 one, which somebody else would dial: NAT64, 6to4, Teredo
	ClassReserved                   // what is assigned to nobody, or to protocols
)

var classNames = [...]string{
	"invalid", "public", "documentation", "unspecified", "loopback", "link-local", "metadata",
	"private", "shared", "benchmark", "multicast", "embedded", "reserved",
}

// String is the class in a word, such as "link-local".
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "class " + strconv.Itoa(int(c))
}

// Inward is true for the classes that an operator may open for one host and
// range with Inward. Loopback, link-local and metadata are never among them.
func (c Class) Inward() bool {
	return c == ClassPrivate || c == ClassShared || c == ClassBenchmark
}

type classRow struct {
	prefix netip.Prefix
	class  Class
}

func row(prefix string, c Class) classRow { return classRow{netip.MustParsePrefix(prefix), c} }

// classTable is read from the top, the first match counts: single metadata
// addresses stand before the ranges that hold them. Ranges are those of the
// IANA special-purpose registries; the metadata rows are the addresses where
// clouds answer (AWS, GCE, Azure and others; Azure's wire server; Alibaba;
// Oracle; over IPv6 AWS, GCE, Oracle and Scaleway).
var classTable = []classRow{
	row("169.254.169.254/32", ClassMetadata),
	row("168.63.129.16/32", ClassMetadata),
	row("100.100.100.200/32", ClassMetadata),
	row("192.0.0.192/32", ClassMetadata),
	row("fd00:ec2::/32", ClassMetadata),
	row("fd20:ce::254/128", ClassMetadata),
	row("fd00:c1::a9fe:a9fe/128", ClassMetadata),
	row("fd00:42::42/128", ClassMetadata),

	row("0.0.0.0/8", ClassUnspecified),
	row("127.0.0.0/8", ClassLoopback),
	row("10.0.0.0/8", ClassPrivate),
	row("172.16.0.0/12", ClassPrivate),
	row("192.168.0.0/16", ClassPrivate),
	row("169.254.0.0/16", ClassLinkLocal),
	row("100.64.0.0/10", ClassShared),
	row("192.0.0.0/24", ClassReserved),
	row("192.0.2.0/24", ClassDocumentation),
	row("198.51.100.0/24", ClassDocumentation),
	row("203.0.113.0/24", ClassDocumentation),
	row("192.88.99.0/24", ClassEmbedded), // 6to4 relays
	row("198.18.0.0/15", ClassBenchmark),
	row("224.0.0.0/4", ClassMulticast),
	row("240.0.0.0/4", ClassReserved), // the broadcast address included

	row("::/128", ClassUnspecified),
	row("::1/128", ClassLoopback),
	row("::/96", ClassEmbedded),           // compatible
	row("::ffff:0:0:0/96", ClassEmbedded), // translated
	row("64:ff9b::/96", ClassEmbedded),    // NAT64
	row("64:ff9b:1::/48", ClassEmbedded),  // local NAT64
	row("2002::/16", ClassEmbedded),       // 6to4
	row("2001::/32", ClassEmbedded),       // Teredo
	row("2001:2::/48", ClassReserved),     // benchmarking; a v4 range is opened, this one nobody asked for
	row("2001::/23", ClassReserved),       // protocol assignments, ORCHID among them
	row("2001:db8::/32", ClassDocumentation),
	row("3fff::/20", ClassReserved),
	row("5f00::/16", ClassReserved),
	row("100::/64", ClassReserved),
	row("fc00::/7", ClassPrivate),
	row("fe80::/10", ClassLinkLocal),
	row("fec0::/10", ClassReserved), // site-local of old
	row("ff00::/8", ClassMulticast),
	row("2000::/3", ClassPublic),
	row("::/0", ClassReserved), // IPv6 that nobody has assigned
}

// Classify names the class of an address. A mapped address is judged as the
// IPv4 address that a dialler would reach; one with a zone is invalid.
func Classify(a netip.Addr) Class {
	if !a.IsValid() || a.Zone() != "" {
		return ClassInvalid
	}
	a = a.Unmap()
	for _, r := range classTable {
		if r.prefix.Contains(a) {
			return r.class
		}
	}
	return ClassPublic
}

// Screen says whether documentation ranges count as public.
type Screen string

// The two screens. The zero value is ScreenNormal.
const (
	ScreenNormal Screen = "normal" // they do
	ScreenStrict Screen = "strict" // they do not; an unknown screen is strict, too
)

// passes is true when an address of this class may be dialled without anybody
// having opened it.
func (s Screen) passes(c Class) bool {
	if c == ClassDocumentation {
		return s == ScreenNormal || s == ""
	}
	return c == ClassPublic
}
