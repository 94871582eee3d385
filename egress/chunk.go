package egress

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	maxChunkLine = 1 << 10 // a size and its extension
	maxTrailer   = 8 << 10
)

// chunks reads a chunked body as strictly as a head: CRLF only, plain hex
// sizes. Extensions and trailers are read and dropped, since an upstream
// could give them a meaning that was never judged.
type chunks struct {
	r     *bufio.Reader
	left  int64 // of the current chunk
	begun bool  // the current chunk's size line has been read
	done  bool
}

// begin reads the size line of the next chunk when none is open. Called once
// before anything is dialled, it lets a malformed body be refused in time.
func (c *chunks) begin() error {
	if c.begun || c.done {
		return nil
	}
	line, err := c.line(maxChunkLine)
	if err != nil {
		return err
	}
	size, _, _ := strings.Cut(line, ";")
	if c.left, err = chunkSize(strings.TrimRight(size, " \t")); err != nil {
		return err
	}
	c.begun = true
	if c.left == 0 {
		return c.trailer()
	}
	return nil
}

func chunkSize(s string) (int64, error) {
	if s == "" || len(s) > 15 || strings.Trim(s, "0123456789abcdefABCDEF") != "" {
		return 0, malformed("a chunk without a proper size")
	}
	n, err := strconv.ParseInt(s, 16, 64)
	if err != nil {
		return 0, malformed("a chunk without a proper size")
	}
	return n, nil
}

func (c *chunks) Read(p []byte) (int, error) {
	if err := c.begin(); err != nil {
		return 0, err
	}
	if c.done {
		return 0, io.EOF
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err == nil && c.left == 0 {
		err = c.end()
	}
	return n, bodyFault(err)
}

// end reads the CRLF behind a chunk's data.
func (c *chunks) end() error {
	c.begun = false
	line, err := c.line(2)
	if err == nil && line != "" {
		err = malformed("a chunk longer than its size")
	}
	return err
}

func (c *chunks) trailer() error {
	h := head{}
	for total := 0; ; {
		line, err := c.line(maxTrailer)
		if err != nil {
			return err
		}
		if line == "" {
			c.done = true
			return nil
		}
		if total += len(line); total > maxTrailer {
			return malformed("a trailer of more than %d bytes", maxTrailer)
		}
		if err := h.parseField(line); err != nil {
			return err
		}
	}
}

// line reads to CRLF; more than limit bytes, or more than the reader holds,
// is malformed.
func (c *chunks) line(limit int) (string, error) {
	part, err := c.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || len(part) > limit {
		return "", malformed("a line of the chunked body is too long")
	}
	if err != nil {
		return "", bodyFault(err)
	}
	s, err := cutCRLF(part)
	if err == nil && strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' }) {
		err = malformed("a control character in the chunked body")
	}
	return s, err
}

// bodyFault makes an early end an error of the body: only a complete one may
// reach the upstream as complete.
func bodyFault(err error) error {
	if errors.Is(err, io.EOF) {
		return malformed("the body ends early")
	}
	return err
}
