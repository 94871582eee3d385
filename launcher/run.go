package launcher

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// Terminal is the size of a terminal in characters.
type Terminal struct{ Rows, Cols uint16 }

func (t *Terminal) order() *link.Terminal {
	if t == nil {
		return nil
	}
	return &link.Terminal{Rows: t.Rows, Cols: t.Cols}
}

// Resize tells a command that its terminal has another size.
func (k *Kernel) Resize(t Terminal) error {
	k.mu.Lock()
	l := k.life
	k.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.link.Resize(t.Rows, t.Cols)
}

// connect decides what becomes of the program's output.
func (k *Kernel) connect(s Spec) {
	if !s.Raw {
		k.out, k.err = newOutput(s.Stdout, newTail(0)), newOutput(s.Stderr, k.tail)
		k.stdout, k.stderr = k.out, k.err
		return
	}
	k.stdout, k.stderr = &exact{w: s.Stdout}, &exact{w: s.Stderr}
	k.out, k.err = newOutput(nil, newTail(0)), newOutput(k.stderr, newTail(0)) // err for what the launcher itself says
}

// exact passes bytes on as they are. It waits for the destination, and so does whoever writes.
type exact struct {
	mu sync.Mutex // the launcher's own lines come from another goroutine
	w  io.Writer
}

func (e *exact) Write(p []byte) (int, error) {
	if e.w == nil {
		return len(p), nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.w.Write(p)
}

// standard are the ends of pipes that a sandbox inherits as its standard descriptors; the launcher's own never go in.
type standard struct{ in, out, err *os.File }

func (s standard) close() {
	for _, f := range []*os.File{s.in, s.out, s.err} {
		if f != nil {
			f.Close()
		}
	}
}

// standard makes the pipes of one life. The end of its standard error is kept in diagnosis.
func (l *life) standard(b birth, diagnosis io.Writer) (s standard, err error) {
	if b.stdin != nil {
		if s.in, err = l.feed(b.stdin); err != nil {
			return s, err
		}
	}
	if s.out, err = l.pump(b.stdout); err != nil {
		return s, err
	}
	s.err, err = l.pump(io.MultiWriter(diagnosis, b.stderr))
	return s, err
}

// feed makes a pipe that carries what src has, and returns the end to be inherited.
func (l *life) feed(src io.Reader) (*os.File, error) {
	inherited, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for the command's input: %w", err)
	}
	l.pipes = append(l.pipes, w)
	go func() { // nobody waits for it: a Read from a terminal ends when somebody types
		io.Copy(struct{ io.Writer }{w}, src)
		w.Close()
	}()
	return inherited, nil
}
