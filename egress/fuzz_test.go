package egress

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

// FuzzHead: what is accepted can be read in one way only.
func FuzzHead(f *testing.F) {
	for _, row := range corpus(f) {
		f.Add(row.Raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(raw), 4<<10)
		h, err := readHead(r, Bounds{}.withDefaults())
		if err != nil {
			return
		}
		if h.size > 64<<10 || len(h.fields) > 200 || len(h.values("host")) > 1 {
			t.Fatalf("a bound does not hold: %d bytes, %d fields", h.size, len(h.fields))
		}
		if h.chunked && len(h.values("content-length")) > 0 {
			t.Fatal("two framings")
		}
		if h.method != strings.ToUpper(h.method) || strings.ContainsAny(h.method+h.target, " \t\r\n\x00") {
			t.Fatalf("request line %q %q", h.method, h.target)
		}
		for _, v := range h.fields {
			if strings.ContainsAny(v.name+v.value, "\r\n\x00") {
				t.Fatalf("field %q", v)
			}
		}
		if bytes.Contains(raw[:h.size-2], []byte("\r\n\r\n")) {
			t.Fatal("the head goes on behind its end")
		}
		h.upstreamHeader()
		if h.chunked {
			io.Copy(io.Discard, &chunks{r: r})
		}
	})
}

// FuzzTarget: a target that is accepted says the same when it is read again,
// and a name is never something that a dialler takes for an address.
func FuzzTarget(f *testing.F) {
	for _, row := range corpus(f) {
		if fields := strings.Fields(string(row.Raw)); len(fields) > 1 {
			f.Add(fields[1])
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := ParseAuthority(s)
		if err != nil {
			return
		}
		if (target.Name == "") == !target.Addr.IsValid() || target.Port == 0 {
			t.Fatalf("%q gives %#v", s, target)
		}
		if target.Addr.Is4In6() || target.Addr.Zone() != "" || endsInNumber(target.Name) || len(target.Name) > maxName {
			t.Fatalf("%q gives %#v", s, target)
		}
		if strings.Trim(target.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			t.Fatalf("%q gives %q", s, target.Name)
		}
		again, err := ParseAuthority(target.String())
		if err != nil || again != target {
			t.Fatalf("%q gives %v, and that %v, %v", s, target, again, err)
		}
		if host, err := ParseHost(s, 443); err != nil || host != target {
			t.Fatalf("%q: two readings, %v and %v", s, target, host)
		}
	})
}

// FuzzRule: a rule that is accepted prints as itself and never covers what is
// not below its name.
func FuzzRule(f *testing.F) {
	for _, s := range []string{"x.test", ".x.test", "*.x.test:443", "*", "https://x.test", "192.0.2.7:80", "[2606:4700::1]:1", "bücher.example", "0x7f.1", "a.*.b"} {
		f.Add(s)
	}
	for _, row := range corpus(f) {
		if fields := strings.Fields(string(row.Raw)); len(fields) > 1 {
			f.Add(fields[1])
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRule(s)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a word")
			}
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again != r {
			t.Fatalf("%q gives %q, and that %v, %v", s, r, again, err)
		}
		if r.names(Target{Name: "localhost"}) || r.names(Target{Name: "x" + r.name + "x"}) {
			t.Fatalf("%q covers too much", s)
		}
	})
}
