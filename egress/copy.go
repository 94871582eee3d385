package egress

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
)

// copyBehind is copyBytes with bytes in front that have been read before.
func copyBehind(dst, src net.Conn, in source, first []byte, n *atomic.Int64) (readErr, writeErr error) {
	if len(first) > 0 {
		k, err := dst.Write(first)
		n.Add(int64(k))
		if err != nil {
			return nil, err
		}
	}
	return copyBytes(dst, src, in, n)
}

// copyBytes copies until src ends (both errors nil), breaks, or dst takes no
// more. What src has received comes through in, until it proves to be much.
func copyBytes(dst, src net.Conn, in source, n *atomic.Int64) (readErr, writeErr error) {
	var bulk *splicer
	for moved := 0; ; {
		var k int
		done := false
		if moved >= spliceAfter {
			if bulk == nil {
				bulk = newSplicer(dst, src)
			}
			k, done, readErr, writeErr = bulk.step()
		}
		if !done {
			k, readErr, writeErr = pass(dst, in)
		}
		moved = min(moved+k, spliceAfter)
		n.Add(int64(k))
		switch {
		case writeErr != nil:
			return nil, writeErr
		case errors.Is(readErr, io.EOF):
			return nil, nil
		case readErr != nil:
			return readErr, nil
		}
	}
}

// pass moves what has arrived, through a buffer.
func pass(dst net.Conn, in source) (n int, readErr, writeErr error) {
	buf, k, readErr := in.next()
	if k > 0 {
		n, writeErr = dst.Write((*buf)[:k])
	}
	putBuffer(buf)
	return n, readErr, writeErr
}

// source gives what has arrived, in a buffer that the caller puts back.
type source interface {
	next() (*[]byte, int, error)
}

// plainSource holds its buffer while it waits.
type plainSource struct {
	io.Reader
	room room
}

func (s *plainSource) next() (*[]byte, int, error) {
	buf := s.room.take()
	n, err := s.Read(*buf)
	s.room.saw(n)
	return buf, n, err
}
