package egress

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Requests beside the corpus: the other side of many of its rows.
func TestFurtherRequests(t *testing.T) {
	connect := func(target string) string {
		return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n"
	}
	plain := func(url, fields string) string {
		return "GET " + url + " HTTP/1.1\r\nHost: allowed.test\r\n" + fields + "\r\n"
	}
	post := func(fields, body string) string {
		return "POST http://allowed.test/x HTTP/1.1\r\nHost: allowed.test\r\n" + fields + "\r\n" + body
	}
	for _, row := range []corpusRow{
		{ID: "final dot", Want: "OPEN", Raw: []byte(connect("allowed.test.:443"))},
		{ID: "1.0 without Host", Want: "OPEN", Raw: []byte("CONNECT allowed.test:443 HTTP/1.0\r\n\r\n")},
		{ID: "Host without port", Want: "OPEN", Raw: []byte("CONNECT allowed.test:443 HTTP/1.1\r\nHost: ALLOWED.test\r\n\r\n")},
		{ID: "Host with another port", Want: "BAD", Raw: []byte("CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:80\r\n\r\n")},
		{ID: "suffix", Want: "DENY", Raw: []byte(connect("allowed.test.evil.test:443"))},
		{ID: "port 22", Want: "DENY", Raw: []byte(connect("allowed.test:22"))},
		{ID: "octal", Want: "DENY", Raw: []byte(connect("0177.0.0.1:443"))},
		{ID: "quad and dot", Want: "DENY", Raw: []byte(connect("127.0.0.1.:443"))},
		{ID: "mapped", Want: "DENY", Raw: []byte(connect("[::ffff:127.0.0.1]:443"))},
		{ID: "6to4", Want: "DENY", Raw: []byte(connect("[2002:7f00:1::]:443"))},
		{ID: "public address", Want: "DENY", Raw: []byte(connect("192.0.2.80:443"))},
		{ID: "localhost", Want: "DENY", Raw: []byte(connect("localhost:443"))},
		{ID: "localhost dot", Want: "DENY", Raw: []byte(connect("LOCALHOST.:443"))},
		{ID: "below localhost", Want: "DENY", Raw: []byte(connect("allowed.test.localhost:443"))},
		{ID: "hyphen", Want: "BAD", Raw: []byte(connect("-a.allowed.test:443"))},
		{ID: "long name", Want: "BAD", Raw: []byte(connect(strings.Repeat("aaaaaaaaa.", 25) + "allowed.test:443"))},
		{ID: "full width", Want: "BAD", Raw: []byte(connect("ａllowed.test:443"))},
		{ID: "empty", Want: "BAD", Raw: []byte(connect(":443"))},
		{ID: "fragment", Want: "BAD", Raw: []byte(connect("evil.test#allowed.test:443"))},
		{ID: "query", Want: "BAD", Raw: []byte(connect("evil.test?.allowed.test:443"))},
		{ID: "nul", Want: "BAD", Raw: []byte(connect("evil.test\x00.allowed.test:443"))},
		{ID: "port minus", Want: "BAD", Raw: []byte(connect("allowed.test:-443"))},
		{ID: "port name", Want: "BAD", Raw: []byte(connect("allowed.test:https"))},
		{ID: "two ports", Want: "BAD", Raw: []byte(connect("allowed.test:443:22"))},
		{ID: "zone", Want: "BAD", Raw: []byte(connect("[::ffff:127.0.0.2%x.allowed.test]:443"))},
		{ID: "origin-form CONNECT", Want: "BAD", Raw: []byte(connect("/allowed.test:443"))},
		{ID: "chunked CONNECT", Want: "BAD", Raw: []byte("CONNECT allowed.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\n\r\n")},
		{ID: "2.0", Want: "BAD", Raw: []byte("CONNECT allowed.test:443 HTTP/2.0\r\nHost: allowed.test\r\n\r\n")},
		{ID: "socks4", Want: "BAD", Raw: []byte("\x04\x01\x01\xbb\x7f\x00\x00\x01\x00")},
		{ID: "origin-form", Want: "BAD", Raw: []byte(plain("/x", ""))},
		{ID: "file", Want: "BAD", Raw: []byte(plain("file:///etc/passwd", ""))},
		{ID: "no authority", Want: "BAD", Raw: []byte(plain("http:///x", ""))},
		{ID: "one slash", Want: "BAD", Raw: []byte(plain("http:/allowed.test/x", ""))},
		{ID: "user and port", Want: "BAD", Raw: []byte(plain("http://allowed.test:80@evil.test:80/x", ""))},
		{ID: "backslash", Want: "BAD", Raw: []byte(plain(`http://allowed.test\@evil.test/x`, ""))},
		{ID: "plain port 22", Want: "DENY", Raw: []byte(plain("http://allowed.test:22/x", ""))},
		{ID: "plain number", Want: "DENY", Raw: []byte(plain("http://127.1/x", ""))},
		{ID: "plain zone", Want: "BAD", Raw: []byte(plain("http://[::ffff:127.0.0.2%25x.allowed.test]/x", ""))},
		{ID: "dots in the path", Want: "FWD", Raw: []byte(plain("http://allowed.test/a/../../x", ""))},
		{ID: "unix socket", Want: "FWD", Raw: []byte(plain("http://allowed.test/x", "X-Unix-Socket: /var/run/docker.sock\r\n"))},
		{ID: "websocket that is not answered so", Want: "FWD", Raw: []byte(plain("http://allowed.test/x", "Connection: Upgrade\r\nUpgrade: websocket\r\n"))},
		{ID: "h2c", Want: "FWD", Raw: []byte(plain("http://allowed.test/x", "Connection: Upgrade\r\nUpgrade: h2c\r\n"))},
		{ID: "100 kB field", Want: "431", Raw: []byte(plain("http://allowed.test/x", "X: "+strings.Repeat("a", 100_000)+"\r\n"))},
		{ID: "nul in a field", Want: "BAD", Raw: []byte(plain("http://allowed.test/x", "X: 1\x002\r\n"))},
		{ID: "unknown method", Want: "FWD", Raw: []byte("FOO http://allowed.test/x HTTP/1.1\r\nHost: allowed.test\r\n\r\n")},
		{ID: "obscured chunked", Want: "501", Raw: []byte(post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"))},
		{ID: "chunked with a Kelvin sign", Want: "501", Raw: []byte(post("Transfer-Encoding: chun\u212aed\r\n", "0\r\n\r\n"))},
		{ID: "gzip, chunked", Want: "501", Raw: []byte(post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"))},
		{ID: "length plus", Want: "BAD", Raw: []byte(post("Content-Length: +5\r\n", "HELLO"))},
		{ID: "underscore length", Want: "FWD", Raw: []byte(post("Content_Length: 5\r\n", "HELLO"))},
		{ID: "expect", Want: "FWD", Raw: []byte(plain("http://allowed.test/x", "Expect: 100-continue\r\n"))},
		{ID: "CONNECT behind a GET, denied", Want: "DENY", Raw: []byte(plain("http://allowed.test/1", "") + connect("evil.test:443"))},
	} {
		row.Connect = strings.HasPrefix(string(row.Raw), "CONNECT")
		t.Run(row.ID, func(t *testing.T) {
			w := newWorld(t)
			line, _ := w.call(string(row.Raw)).answerHead()
			assert.Equal(t, row.Want, w.outcome(row, line), line)
		})
	}
}
