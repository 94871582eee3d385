package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// head is one request head that nobody can read in two ways.
type head struct {
	method, target string
	minor          int // HTTP/1.minor, 0 or 1
	fields         []field
	framing
	host       string // the Host field's value
	connection []string
	upgrade    string
	size       int
}

type field struct{ name, value string } // name in lower case

// fault is a request that is answered by a status and the end of the
// connection.
type fault struct {
	status     int
	code, what string
}

func (f *fault) Error() string { return f.what }

func malformed(format string, args ...any) *fault {
	return &fault{400, CodeMalformed, fmt.Sprintf(format, args...)}
}

// errNoRequest is a connection that ended before the first byte of a head.
var errNoRequest = errors.New("no request")

// readHead reads one head. It judges each line as it comes, so that what is
// no HTTP at all is answered at once instead of being waited for.
func readHead(r *bufio.Reader, b Bounds) (*head, error) {
	h := &head{}
	if first, err := r.Peek(1); err != nil {
		return h, errNoRequest
	} else if !httpguts.IsTokenRune(rune(first[0])) {
		return h, malformed("the first byte begins no HTTP request")
	}
	for n := 0; ; n++ {
		line, err := h.readLine(r, b, n)
		if err != nil {
			return h, err
		}
		switch {
		case n == 0:
			err = h.parseRequestLine(line)
		case line == "":
			return h, h.finish()
		case n > b.Fields:
			err = &fault{431, CodeHeadTooLarge, fmt.Sprintf("more than %d header fields", b.Fields)}
		default:
			err = h.parseField(line)
		}
		if err != nil {
			return h, err
		}
	}
}

// readLine gives one line without its CRLF. The limit is on the head as a
// whole.
func (h *head) readLine(r *bufio.Reader, b Bounds, n int) (string, error) {
	var long []byte // of a line that is longer than the reader's buffer
	for {
		part, err := r.ReadSlice('\n')
		h.size += len(part)
		switch {
		case h.size > b.Head:
			return "", tooLarge(n, b)
		case err == nil && long == nil:
			return cutCRLF(part)
		case err == nil:
			return cutCRLF(extend(long, part, b.Head))
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", readFault(err)
		}
		long = extend(long, part, b.Head)
	}
}

// extend appends, and leaves less behind than append would: many clients can
// send long lines at once, and none of them has been judged yet.
func extend(line, part []byte, most int) []byte {
	if need := len(line) + len(part); need > cap(line) {
		line = append(make([]byte, 0, min(2*need, most)), line...)
	}
	return append(line, part...)
}

func tooLarge(n int, b Bounds) *fault {
	if n == 0 {
		return &fault{414, CodeTargetTooLong, fmt.Sprintf("a request line of more than %d bytes", b.Head)}
	}
	return &fault{431, CodeHeadTooLarge, fmt.Sprintf("a request head of more than %d bytes", b.Head)}
}

func readFault(err error) error {
	var ne net.Error
	switch {
	case errors.Is(err, io.EOF):
		return malformed("the request head ends early")
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return &fault{408, CodeHeadTimeout, "the request head took too long"}
	}
	return err
}

func cutCRLF(line []byte) (string, error) {
	s, ok := strings.CutSuffix(string(line), "\r\n")
	if !ok {
		return "", malformed("a line that ends without a carriage return")
	}
	return s, nil
}

func (h *head) parseRequestLine(line string) error {
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return malformed("a request line is METHOD TARGET VERSION")
	}
	method, target, version := parts[0], parts[1], parts[2]
	if !httpguts.ValidHeaderFieldName(method) || method != strings.ToUpper(method) {
		return malformed("the method is no upper-case token")
	}
	if err := checkTarget(target); err != nil {
		return err
	}
	minor, ok := strings.CutPrefix(version, "HTTP/1.")
	if !ok || len(minor) != 1 || minor[0] < '0' || minor[0] > '9' {
		return malformed("not HTTP/1")
	}
	h.method, h.target, h.minor = method, target, 1
	if minor == "0" {
		h.minor = 0
	}
	if method == "TRACE" {
		return &fault{405, CodeMethodRefused, "TRACE echoes what should stay between client and proxy"}
	}
	return nil
}

func checkTarget(s string) error {
	if s == "" {
		return malformed("the target is empty")
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f || s[i] == '#' {
			return malformed("byte %q in the target", rune(s[i]))
		}
	}
	return nil
}

func (h *head) parseField(line string) error {
	if line[0] == ' ' || line[0] == '\t' {
		return malformed("a folded header field")
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || !httpguts.ValidHeaderFieldName(name) {
		return malformed("a header field without a proper name")
	}
	value = strings.Trim(value, " \t")
	if !httpguts.ValidHeaderFieldValue(value) {
		return malformed("a control character in a header field")
	}
	h.fields = append(h.fields, field{strings.ToLower(name), value})
	return nil
}

// values gives every value of a field, in order.
func (h *head) values(name string) []string {
	var vs []string
	for _, f := range h.fields {
		if f.name == name {
			vs = append(vs, f.value)
		}
	}
	return vs
}

// tokens gives the members of a list field, lower case.
func (h *head) tokens(name string) []string {
	var ts []string
	for _, v := range h.values(name) {
		for t := range strings.SplitSeq(v, ",") {
			if t = strings.ToLower(strings.Trim(t, " \t")); t != "" {
				ts = append(ts, t)
			}
		}
	}
	return ts
}
