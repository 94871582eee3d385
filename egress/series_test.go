package egress

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// series is an endless stream in which no place is like another: blocks of
// noise with their places in front. What is written to one is compared.
type series struct {
	block []byte
	at    int64
}

func newSeries() *series { return &series{block: randomBytes(256 << 10)} }

// next gives at most n of the bytes that follow.
func (s *series) next(n int) []byte {
	i := int(s.at % int64(len(s.block)))
	binary.BigEndian.PutUint64(s.block, uint64(s.at)-uint64(i))
	b := s.block[i:min(i+n, len(s.block))]
	s.at += int64(len(b))
	return b
}

func (s *series) Read(p []byte) (int, error) { return copy(p, s.next(len(p))), nil }

func (s *series) Write(p []byte) (n int, err error) {
	for n < len(p) {
		at := s.at
		want := s.next(len(p) - n)
		if !bytes.Equal(want, p[n:n+len(want)]) {
			return n, fmt.Errorf("wrong between byte %d and %d", at, s.at)
		}
		n += len(want)
	}
	return n, nil
}

// copyPlainly copies in large pieces, and not by a faster way of either end.
func copyPlainly(w io.Writer, r io.Reader) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, 256<<10))
	return err
}

// rest is what comes from now on, past the small buffer in which answers are
// read.
func (c *call) rest() io.Reader {
	return io.MultiReader(io.LimitReader(c.r, int64(c.r.Buffered())), c.TCPConn)
}
