package launcher

import (
	"context"
	"sync"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// current is the sandbox that a kernel has at the moment. One that is restarted in place has several, one after the other, and none in between.
type current struct {
	mu     sync.Mutex
	life   context.Context // of the sandbox; nil in between
	link   link.Link
	change chan struct{} // closed when one is attached
	closed bool
}

func newCurrent() *current { return &current{change: make(chan struct{})} }

// attached waits for a sandbox, or for done.
func (p *current) attached(done <-chan struct{}) (link.Link, context.Context, bool) {
	for {
		p.mu.Lock()
		l, life, change, closed := p.link, p.life, p.change, p.closed
		p.mu.Unlock()
		if closed {
			return nil, nil, false
		}
		if l != nil {
			return l, life, true
		}
		select {
		case <-change:
		case <-done:
			return nil, nil, false
		}
	}
}

// attach makes l the present sandbox until life ends.
func (p *current) attach(l link.Link, life context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.link, p.life = l, life
	close(p.change)
	p.change = make(chan struct{})
	context.AfterFunc(life, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.life == life {
			p.link, p.life = nil, nil
		}
	})
}

// end lets nobody wait any longer.
func (p *current) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		close(p.change)
	}
}
