package egress

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

var errBodyOver = errors.New("the request is over")

// body is a request body on its way to the origin. The transport reads it
// from its own goroutine, possibly still when the answer is there.
type body struct {
	c    *client
	src  io.Reader
	done func() // called at the end of a complete body

	reading  sync.Mutex // held while bytes are read, after which nobody reads
	mu       sync.Mutex // guards what follows, never held while waiting
	expect   bool       // 100 Continue is owed to the client
	answered bool       // the answer has begun, so nothing else may be written
	over     bool
	n        int64
	err      error // why no more can be read; io.EOF when complete
}

// sized is a body of a known length.
type sized struct {
	r    *bufio.Reader
	left int64
}

func (s *sized) Read(p []byte) (int, error) {
	n, err := s.r.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if err != nil {
		return n, bodyFault(err)
	}
	if s.left == 0 {
		return n, io.EOF
	}
	return n, nil
}

// newBody reads the first line of a chunked body at once, so that a malformed
// one is refused before anything is dialled, unless the client waits for 100.
func (c *client) newBody(h *head, done func()) (*body, error) {
	b := &body{c: c, done: done, expect: h.expect, src: &sized{r: c.r, left: h.length}}
	if h.chunked {
		ch := &chunks{r: c.r}
		b.src = ch
		if !h.expect {
			c.conn.SetReadDeadline(time.Now().Add(c.b.HeadTime))
			return b, ch.begin()
		}
	}
	return b, nil
}

func (b *body) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if err := b.proceed(); err != nil || len(p) == 0 {
		return 0, err
	}
	n, err := b.src.Read(p)
	b.advance(n, err)
	if err == io.EOF {
		b.done()
	}
	return n, err
}

// proceed says whether more may be read, pays the 100, and grants the client
// time for the next bytes.
func (b *body) proceed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return errBodyOver
	}
	if b.err != nil {
		return b.err
	}
	if b.expect && !b.answered {
		b.expect = false
		b.c.conn.SetWriteDeadline(time.Now().Add(b.c.b.Idle))
		if _, err := io.WriteString(b.c.conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return err
		}
	}
	return b.c.conn.SetReadDeadline(time.Now().Add(b.c.b.Idle))
}

func (b *body) advance(n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n += int64(n)
	b.err = err
}

// Close is the transport's; the owner ends the body by finish.
func (b *body) Close() error { return nil }

// answer forbids a 100 from here on.
func (b *body) answer() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answered = true
}

// pending is true while the client may still be sending.
func (b *body) pending() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != io.EOF
}

// fault is what was wrong with the body itself, nil when nothing was.
func (b *body) fault() *fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	var f *fault
	errors.As(b.err, &f)
	return f
}

// finish ends the body, waits for a read that is under way, and says whether
// the body was complete, so that another request may follow.
func (b *body) finish() (n int64, complete bool) {
	b.stop()
	b.reading.Lock()
	defer b.reading.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n, b.err == io.EOF
}

func (b *body) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.c.conn.SetReadDeadline(past)
}

// attach gives the request its body and framing.
func (b *body) attach(r *http.Request, h *head) {
	switch {
	case h.chunked:
		r.Body, r.ContentLength = b, -1
	case h.length > 0:
		r.Body, r.ContentLength = b, h.length
	default:
		b.err = io.EOF
		b.done()
	}
}
