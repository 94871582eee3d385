package egress

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzHead: what is accepted can be read in one way only, in whatever pieces
// it comes, and Go's own reader reads it in the same way or refuses it.
func FuzzHead(f *testing.F) {
	for i, row := range corpus(f) {
		f.Add(row.Raw, byte(i))
	}
	f.Fuzz(func(t *testing.T, raw []byte, piece byte) {
		for _, b := range []Bounds{{}, {Head: 128, Fields: 3}} {
			b = b.withDefaults()
			h, err := readWhole(t, raw, b)
			inPieces, errInPieces := readHead(bufio.NewReaderSize(&pieces{raw, 1 + int(piece)}, 16), b)
			if sameFault(t, err, errInPieces); err != nil {
				continue
			}
			require.Equal(t, h, inPieces, "another reading in pieces of %d", 1+int(piece))
			checkAccepted(t, raw, h, b)
			compareWithGo(t, raw, h)
		}
	})
}

// pieces gives at most n bytes at a time.
type pieces struct {
	rest []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(len(p.rest), p.n)])
	p.rest = p.rest[n:]
	return n, nil
}

// readWhole reads a head as the proxy does. Nothing is taken from the client
// beyond the bound and what its buffer may hold, and what is behind the head
// stays where it is.
func readWhole(t *testing.T, raw []byte, b Bounds) (*head, error) {
	src := bytes.NewReader(raw)
	r := bufio.NewReaderSize(src, 4<<10)
	h, err := readHead(r, b)
	assert.LessOrEqual(t, len(raw)-src.Len(), b.Head+r.Size())
	if err == nil {
		rest, _ := io.ReadAll(r)
		assert.Equal(t, string(raw[h.size:]), string(rest))
	}
	return h, err
}

func sameFault(t *testing.T, a, b error) {
	var x, y *fault
	if errors.As(a, &x) && errors.As(b, &y) {
		require.Equal(t, *x, *y)
		require.NotEmpty(t, phrase(x.what))
		return
	}
	require.Equal(t, a, b)
}

func checkAccepted(t *testing.T, raw []byte, h *head, b Bounds) {
	require.LessOrEqual(t, h.size, b.Head)
	require.LessOrEqual(t, len(h.fields), b.Fields)
	require.LessOrEqual(t, len(h.values("host")), 1)
	require.False(t, h.chunked && len(h.values("content-length")) > 0, "two framings")
	require.Equal(t, strings.ToUpper(h.method), h.method)
	require.False(t, strings.ContainsAny(h.method+h.target, " \t\r\n\x00"), "%q %q", h.method, h.target)
	for _, v := range h.fields {
		require.False(t, v.name == "" || strings.ContainsAny(v.name+v.value, "\r\n\x00"), "%q", v)
	}
	require.Equal(t, h.size-4, bytes.Index(raw, []byte("\r\n\r\n")), "the head ends at its first empty line")

	var again strings.Builder
	again.WriteString(h.method + " " + h.target + " HTTP/1." + string(rune('0'+h.minor)) + "\r\n")
	for _, v := range h.fields {
		again.WriteString(v.name + ": " + v.value + "\r\n")
	}
	second, err := parseHead(again.String() + "\r\n")
	require.NoError(t, err)
	second.size = h.size
	require.Equal(t, h, second, "written anew, it is another head")
	for name := range h.upstreamHeader() {
		lower := strings.ToLower(name)
		require.False(t, lower != "expect" && stripped(lower, h.connection), name)
	}
}

// compareWithGo reads the same bytes by net/http. Where it takes them for a
// request as well, it is the same one, to the same host, and ends where ours does.
func compareWithGo(t *testing.T, raw []byte, h *head) {
	src := bytes.NewReader(raw)
	r := bufio.NewReader(src)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	require.Equal(t, h.size, len(raw)-src.Len()-r.Buffered(), "another end")
	require.Equal(t, []string{h.method, h.target}, []string{req.Method, req.RequestURI})
	length := h.length
	if h.chunked {
		length = -1
	}
	require.Equal(t, length, req.ContentLength)
	if h.minor == 1 {
		require.Equal(t, h.close, req.Close)
	}
	compareFields(t, h, req)
	target, err := ParseAuthority(h.target)
	if h.method != "CONNECT" {
		authority, _, fault := cutAbsolute(h.method, h.target)
		if fault != nil {
			return
		}
		var bare bool
		if target, bare, err = plainTarget(authority); !bare {
			return
		}
	}
	if err == nil {
		requireSameTarget(t, target, req.URL.Hostname(), req.URL.Port())
	}
}

func compareFields(t *testing.T, h *head, req *http.Request) {
	// Host, Trailer and Transfer-Encoding go into fields of their own; for a
	// Pragma of HTTP/1.0 net/http makes up a Cache-Control.
	own := []string{"Host", "Trailer", "Transfer-Encoding", "Cache-Control"}
	want := http.Header{}
	for _, f := range h.fields {
		if name := textproto.CanonicalMIMEHeaderKey(f.name); !slices.Contains(own, name) {
			want.Add(name, f.value)
		}
	}
	for _, name := range own {
		req.Header.Del(name)
	}
	require.Equal(t, want, req.Header)
}

// FuzzChunks: a body in chunks comes out the same in whatever pieces it comes,
// as Go's own reader reads it or refuses it.
func FuzzChunks(f *testing.F) {
	for i, row := range corpus(f) {
		if _, body, ok := bytes.Cut(row.Raw, []byte("\r\n\r\n")); ok {
			f.Add(body, byte(i))
		}
	}
	f.Add([]byte("5;a=b\r\nHELLO\r\n0\r\nX: y\r\n\r\nGET"), byte(0))
	f.Fuzz(func(t *testing.T, raw []byte, piece byte) {
		r := bufio.NewReaderSize(bytes.NewReader(raw), 4<<10)
		body, err := io.ReadAll(&chunks{r: r})
		inPieces, errInPieces := io.ReadAll(&chunks{r: bufio.NewReaderSize(&pieces{raw, 1 + int(piece)}, 4<<10)})
		require.Equal(t, string(body), string(inPieces))
		sameFault(t, err, errInPieces)
		if err != nil {
			return
		}
		src := bufio.NewReader(io.MultiReader(strings.NewReader("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"), bytes.NewReader(raw)))
		req, err := http.ReadRequest(src)
		require.NoError(t, err)
		if theirs, err := io.ReadAll(req.Body); err == nil {
			require.Equal(t, string(theirs), string(body))
			left, _ := io.ReadAll(r)
			theirsLeft, _ := io.ReadAll(src)
			require.Equal(t, string(theirsLeft), string(left), "another end")
		}
	})
}
