package egress

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// bufferSize: 64 KiB carries bulk at the speed of larger ones.
const bufferSize = 64 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}

// copyBytes copies until src ends (both errors nil), breaks, or dst takes no
// more.
func copyBytes(dst, src net.Conn, n *atomic.Int64) (readErr, writeErr error) {
	in := newSource(src)
	for {
		buf, k, err := in.next()
		if k > 0 {
			var w int
			w, writeErr = dst.Write((*buf)[:k])
			n.Add(int64(w))
		}
		if buf != nil {
			buffers.Put(buf)
		}
		switch {
		case writeErr != nil:
			return nil, writeErr
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return err, nil
		}
	}
}

// source gives what has arrived, in a pooled buffer that the caller puts back.
type source interface {
	next() (*[]byte, int, error)
}

// plainSource holds its buffer while it waits.
type plainSource struct{ io.Reader }

func (s plainSource) next() (*[]byte, int, error) {
	buf := buffers.Get().(*[]byte)
	n, err := s.Read(*buf)
	return buf, n, err
}
