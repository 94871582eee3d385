package egress

// cursor reads the vectors of TLS. Once something is missing, nothing more is
// read.
type cursor struct {
	rest   []byte
	broken bool
}

func (c *cursor) take(n int) []byte {
	if c.broken || n > len(c.rest) {
		c.broken = true
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

// number is big-endian, of n bytes.
func (c *cursor) number(n int) int {
	v := 0
	for _, b := range c.take(n) {
		v = v<<8 | int(b)
	}
	return v
}

// vector has its length before it, in n bytes.
func (c *cursor) vector(n int) []byte { return c.take(c.number(n)) }

// whole is true when everything was there, and nothing more.
func (c *cursor) whole() bool { return !c.broken && len(c.rest) == 0 }

// Numbers of TLS.
const (
	messageHello     = 1
	maxRecord        = 1 << 14
	extensionName    = 0
	extensionECH     = 0xfe0d
	nameHost         = 0
	mostExtensions   = 64
	versionAndRandom = 2 + 32
)

// plainName gives the host that a ClientHello names, empty when it names none.
// It knows the usual form alone, one message that fills one record, since a
// TLS server that is set up for it costs fifty times as much. Whatever is
// unusual is not ok, and left to one.
func plainName(first []byte) (name string, ok bool) {
	r := cursor{rest: first}
	kind, major, _ := r.number(1), r.number(1), r.number(1)
	record := r.vector(2)
	if r.broken || kind != recordHandshake || major != 3 || len(record) > maxRecord {
		return "", false
	}
	m := cursor{rest: record}
	message := m.number(1)
	h := cursor{rest: m.vector(3)}
	if !m.whole() || message != messageHello {
		return "", false
	}
	h.take(versionAndRandom)
	h.vector(1) // session
	h.vector(2) // cipher suites
	h.vector(1) // compressions
	extensions := h.vector(2)
	if !h.whole() {
		return "", false
	}
	return nameAmong(extensions)
}

// nameAmong looks at all extensions: one that comes twice could be read in
// two ways, and an encrypted hello may have a name inside it.
func nameAmong(extensions []byte) (name string, ok bool) {
	var seen [mostExtensions]uint16
	e := cursor{rest: extensions}
	for n := 0; len(e.rest) > 0 && !e.broken; n++ {
		kind, body := uint16(e.number(2)), e.vector(2)
		if n == mostExtensions || kind == extensionECH {
			return "", false
		}
		for _, k := range seen[:n] {
			if k == kind {
				return "", false
			}
		}
		seen[n] = kind
		if kind == extensionName {
			if name, ok = onlyName(body); !ok {
				return "", false
			}
		}
	}
	return name, e.whole()
}

// onlyName reads a list of one host name.
func onlyName(body []byte) (string, bool) {
	b := cursor{rest: body}
	list := cursor{rest: b.vector(2)}
	kind := list.number(1)
	name := list.vector(2)
	if !b.whole() || !list.whole() || kind != nameHost || len(name) == 0 || name[len(name)-1] == '.' {
		return "", false
	}
	return string(name), true
}
