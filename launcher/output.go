package launcher

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// What a kernel may write to its own standard output and error, which land in its server's terminal or log: burst at once, then rate a second.
const (
	outputBurst = 1 << 20
	outputRate  = 64 << 10
	outputLine  = 16 << 10
)

// ours begins what the launcher says itself. ownLines is how many of these may wait for the destination.
const (
	ours     = "kernel-launch: "
	ownLines = 64
)

// output passes a kernel's own output on: by lines, without control characters (a terminal obeys them, a log is forged with them), bounded (a log is
// a disk). It keeps the tail for the exit report. Write never fails and never waits for the destination: a kernel must not hang on its server.
// What the launcher says goes beside: no unfinished line of the kernel's runs into it, no flood takes its place, and no line of the kernel's passes for one.
type output struct {
	lines chan []byte
	own   chan []byte // what the launcher says
	ended chan struct{}
	tail  *tail
	now   func() time.Time

	mu      sync.Mutex
	part    []byte
	credit  float64
	last    time.Time
	dropped int
	closed  bool
}

func newOutput(w io.Writer, keep *tail) *output {
	o := &output{lines: make(chan []byte, 256), own: make(chan []byte, ownLines), ended: make(chan struct{}), tail: keep, credit: outputBurst, now: time.Now}
	if w == nil {
		w = io.Discard
	}
	go o.pass(w)
	return o
}

// pass ends when both have been closed and are empty.
func (o *output) pass(w io.Writer) {
	defer close(o.ended)
	lines, own := o.lines, o.own
	for lines != nil || own != nil {
		select {
		case b, open := <-lines:
			if !open {
				lines = nil
				continue
			}
			w.Write(b)
		case b, open := <-own:
			if !open {
				own = nil
				continue
			}
			w.Write(b)
		}
	}
}

// say passes on a line of the launcher's own.
func (o *output) say(text string) {
	b := []byte(ours + plain.Line(text, outputLine) + "\n")
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail.Write(b)
	if o.closed {
		return
	}
	select {
	case o.own <- b:
	default: // nobody takes what is said
	}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rest := p
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		o.line(append(o.part, rest[:i]...))
		o.part, rest = nil, rest[i+1:]
	}
	o.part = append(o.part, rest...)
	if len(o.part) >= outputLine {
		o.line(o.part)
		o.part = nil
	}
	return len(p), nil
}

func (o *output) line(b []byte) {
	text := plain.Text(strings.TrimRight(string(b), "\r"), outputLine) + "\n"
	if strings.HasPrefix(strings.TrimLeft(text, " \t"), strings.TrimSpace(ours)) {
		text = "the kernel wrote: " + text
	}
	o.tail.Write([]byte(text))
	if o.closed || !o.afford(len(text)) {
		o.dropped += len(text)
		return
	}
	if o.dropped > 0 {
		text = fmt.Sprintf(ours+"%d bytes of the kernel's own output were left out here\n", o.dropped) + text
		o.dropped = 0
	}
	select {
	case o.lines <- []byte(text):
	default:
		o.dropped += len(text)
	}
}

func (o *output) afford(n int) bool {
	now := o.now()
	if !o.last.IsZero() {
		o.credit = min(outputBurst, o.credit+now.Sub(o.last).Seconds()*outputRate)
	}
	o.last = now
	if o.credit < float64(n) {
		return false
	}
	o.credit -= float64(n)
	return true
}

// Close writes the last line, complete or not, and waits at most a second for the destination.
func (o *output) Close() error {
	o.mu.Lock()
	if !o.closed {
		if len(o.part) > 0 {
			o.line(o.part)
		}
		o.closed = true
		close(o.lines)
		close(o.own)
	}
	o.mu.Unlock()
	select {
	case <-o.ended:
	case <-time.After(time.Second):
	}
	return nil
}

// tail keeps the last bytes that were written to it.
type tail struct {
	mu  sync.Mutex
	max int
	b   []byte
}

func newTail(max int) *tail { return &tail{max: max} }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if extra := len(t.b) - t.max; extra > 0 {
		t.b = append(t.b[:0], t.b[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
