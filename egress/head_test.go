package egress

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parseHead(raw string) (*head, error) {
	return readHead(bufio.NewReader(strings.NewReader(raw)), Bounds{}.withDefaults())
}

func TestReadHead(t *testing.T) {
	h, err := parseHead("POST http://x.test/ HTTP/1.1\r\nHost: \t x.test \r\nX-A:\r\nConnection: close, X-A\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\nHELLO")
	require.NoError(t, err)
	assert.Equal(t, "POST", h.method)
	assert.Equal(t, "http://x.test/", h.target)
	assert.Equal(t, "x.test", h.host)
	assert.Equal(t, []string{"close", "x-a"}, h.connection)
	assert.Equal(t, framing{length: 5, expect: true, close: true}, h.framing)
	h, err = parseHead("GET http://x.test/ HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	assert.True(t, h.close, "HTTP/1.0 serves one request")
}

func TestReadHeadStatus(t *testing.T) {
	get := "GET http://x.test/ HTTP/1.1\r\nHost: x.test\r\n"
	for raw, status := range map[string]int{
		"GET http://x.test/ HTTP/1.1\r\n":                            400,
		get + "\n":                                                   400,
		get + "X: a\x7fb\r\n\r\n":                                    400,
		get + "X: a\tb\r\n\r\n":                                      0,
		get + "X: \xff\r\n\r\n":                                      0,
		get + "X\xff: a\r\n\r\n":                                     400,
		get + "X:a\r\n\tb\r\n\r\n":                                   400,
		get + "HOST: x.test\r\n\r\n":                                 400,
		get + "Content-Length: \r\n\r\n":                             400,
		get + "Content-Length: 1_0\r\n\r\n":                          400,
		get + "Content-Length: 0\r\n\r\n":                            0,
		get + "Transfer-Encoding: chunked, chunked\r\n\r\n":          501,
		get + "Transfer-Encoding: CHUNKED\r\n\r\n":                   0,
		get + "Transfer-Encoding: \r\n\r\n":                          501,
		get + "Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n": 417,
		"GET  http://x.test/ HTTP/1.1\r\nHost: x\r\n\r\n":            400,
		"GET http://x.test/ http/1.1\r\nHost: x\r\n\r\n":             400,
		"GET http://x.test/ HTTP/1.11\r\nHost: x\r\n\r\n":            400,
		"GET http://x.test/ HTTP/2.0\r\nHost: x\r\n\r\n":             400,
		"Get http://x.test/ HTTP/1.1\r\nHost: x\r\n\r\n":             400,
		"TRACE http://x.test/ HTTP/1.1\r\nHost: x\r\n\r\n":           405,
		"CONNECT x.test:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n":   0,
		"CONNECT x.test:443 HTTP/1.1\r\nContent-Length: 1\r\n\r\n":   400,
		"GET " + strings.Repeat("a", 70_000):                         414,
		get + "X: " + strings.Repeat("a", 70_000):                    431,
		get + strings.Repeat("X: 1\r\n", 201) + "\r\n":               431,
		get + strings.Repeat("X: 1\r\n", 199) + "\r\n":               0,
		get + "X: " + strings.Repeat("a", 60_000) + "\r\n\r\n":       0,
	} {
		_, err := parseHead(raw)
		if status == 0 {
			assert.NoError(t, err, "%.80q", raw)
			continue
		}
		var f *fault
		require.ErrorAs(t, err, &f, "%.80q", raw)
		assert.Equal(t, status, f.status, "%.80q: %v", raw, err)
	}
}

// What is no HTTP is answered after its first byte, without waiting for more.
func TestFirstByteDecides(t *testing.T) {
	for _, first := range []string{"\x05", "\x04", "\x16", "\x00", " ", "\r", "\n", "\xff"} {
		r := bufio.NewReader(strings.NewReader(first + "never looked at"))
		_, err := readHead(r, Bounds{}.withDefaults())
		var f *fault
		require.ErrorAs(t, err, &f)
		assert.Equal(t, 400, f.status)
	}
}

func TestChunks(t *testing.T) {
	read := func(raw string) (string, error) {
		c := &chunks{r: bufio.NewReaderSize(strings.NewReader(raw), 4<<10)}
		var out strings.Builder
		buf := make([]byte, 3)
		for {
			n, err := c.Read(buf)
			out.Write(buf[:n])
			if err != nil {
				if isEOF(err) {
					err = nil
				}
				return out.String(), err
			}
		}
	}
	for raw, want := range map[string]string{
		"0\r\n\r\n":               "",
		"5\r\nHELLO\r\n0\r\n\r\n": "HELLO",
		"005;a=b\r\nHELLO\r\n1\r\n!\r\n0;x\r\n\r\n":       "HELLO!",
		"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n": "01234567890123456789",
		"1\r\nx\r\n0\r\nX-T: 1\r\nHost: evil\r\n\r\n":     "x",
	} {
		got, err := read(raw)
		require.NoError(t, err, "%q", raw)
		assert.Equal(t, want, got)
	}
	for _, raw := range []string{
		"", "\r\n", "5", "5\r\nHEL", "5\r\nHELLO", "5\r\nHELLO\r\n", "5\r\nHELLO\r\n0\r\n", "5\r\nHELLOX\r\n0\r\n\r\n", "5\nHELLO\r\n0\r\n\r\n", "5\r\nHELLO\n0\r\n\r\n",
		"0x5\r\nHELLO\r\n0\r\n\r\n", "-1\r\n", "+5\r\nHELLO\r\n0\r\n\r\n", " 5\r\nHELLO\r\n0\r\n\r\n", "5;\x00\r\nHELLO\r\n0\r\n\r\n", "10000000000000005\r\nHELLO",
		"5;" + strings.Repeat("a", 5000) + "\r\nHELLO\r\n0\r\n\r\n", "0\r\n X: 1\r\n\r\n", "0\r\nX\r\n\r\n", "0\r\n" + strings.Repeat("X: 1\r\n", 5000) + "\r\n",
	} {
		_, err := read(raw)
		var f *fault
		require.ErrorAs(t, err, &f, "%.60q", raw)
	}
}
