package egress

import (
	"slices"
	"strconv"
	"strings"
)

// framing says where the body of a request ends.
type framing struct {
	length  int64 // of the body; 0 when there is none, ignored when chunked
	chunked bool
	expect  bool // the client waits for 100 before it sends the body
	close   bool // the client asked for, or its version means, one request
}

// finish checks what the fields mean together.
func (h *head) finish() error {
	checks := []func() error{h.checkHost, h.checkLength, h.checkCoding, h.checkExpect}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	h.connection = h.tokens("connection")
	h.close = h.minor == 0 || slices.Contains(h.connection, "close")
	if up := h.tokens("upgrade"); len(up) == 1 && slices.Contains(h.connection, "upgrade") {
		h.upgrade = up[0]
	}
	if h.method == "CONNECT" && (h.chunked || h.length > 0) {
		return malformed("CONNECT has no body")
	}
	return nil
}

// checkHost: HTTP/1.1 needs one Host, but pip and requests send CONNECT
// without.
func (h *head) checkHost() error {
	hosts := h.values("host")
	switch {
	case len(hosts) > 1:
		return malformed("more than one Host")
	case len(hosts) == 1:
		h.host = hosts[0]
	case h.minor == 1 && h.method != "CONNECT":
		return malformed("no Host")
	}
	return nil
}

func (h *head) checkLength() error {
	lengths := h.values("content-length")
	if len(lengths) == 0 {
		return nil
	}
	s := lengths[0]
	if len(lengths) > 1 || s == "" || len(s) > 18 || strings.Trim(s, "0123456789") != "" {
		return malformed("Content-Length is not one decimal number")
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return malformed("Content-Length is not one decimal number")
	}
	h.length = n
	return nil
}

// checkCoding refuses every combination that two programs have read in two
// ways: both framings, two codings, chunked in HTTP/1.0.
func (h *head) checkCoding() error {
	codings := h.values("transfer-encoding")
	switch {
	case len(codings) == 0:
		return nil
	case len(h.values("content-length")) > 0:
		return malformed("both Content-Length and Transfer-Encoding")
	case len(codings) > 1:
		return malformed("more than one Transfer-Encoding")
	case h.minor == 0:
		return malformed("Transfer-Encoding in HTTP/1.0")
	case !sameASCII(codings[0], "chunked"):
		return &fault{501, CodeUnsupported, "a Transfer-Encoding other than chunked"}
	}
	h.chunked = true
	return nil
}

func (h *head) checkExpect() error {
	expects := h.values("expect")
	if len(expects) == 0 || h.minor == 0 {
		return nil
	}
	if len(expects) > 1 || !sameASCII(expects[0], "100-continue") {
		return &fault{417, CodeExpectation, "an expectation other than 100-continue"}
	}
	h.expect = h.hasBody()
	return nil
}

func (f framing) hasBody() bool { return f.chunked || f.length > 0 }
