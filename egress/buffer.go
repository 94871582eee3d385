package egress

import "sync"

const (
	// bufferSize: half of it takes a tenth more processor time, and twice of it
	// saves little.
	bufferSize = 128 << 10
	// smallSize is for streams that have carried no more at once: a thousand
	// that open together would leave the pool full of large ones.
	smallSize = 16 << 10
)

var buffers, smallBuffers = poolOf(bufferSize), poolOf(smallSize)

func poolOf(size int) *sync.Pool {
	return &sync.Pool{New: func() any { b := make([]byte, size); return &b }}
}

// putBuffer takes one back, or nil.
func putBuffer(buf *[]byte) {
	switch {
	case buf == nil:
	case len(*buf) == bufferSize:
		buffers.Put(buf)
	default:
		smallBuffers.Put(buf)
	}
}

// room is how large a buffer one stream reads into, by what its last read
// brought.
type room struct{ much bool }

func (r *room) take() *[]byte {
	if r.much {
		return buffers.Get().(*[]byte)
	}
	return smallBuffers.Get().(*[]byte)
}

func (r *room) saw(n int) { r.much = n >= smallSize }
