package egress

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// quietLook is after how long a tunnel in which nothing moves is looked at; a
// test cannot wait for it.
var quietLook = 5 * time.Second

// patrol ends tunnels in which no byte has moved for their idle time, seen by
// their counters so that copying needs no clock. It ends one that stands still
// sooner when a side has reset: behind bytes that nobody takes, no read would
// get to know. One timer serves all of a proxy. The zero value is ready.
type patrol struct {
	mu      sync.Mutex
	timer   *time.Timer // nil: not set
	every   time.Duration
	tunnels map[*tunnel]struct{}
}

// quiet is what a patrol has seen of a tunnel.
type quiet struct {
	seen bool
	last int64
	time time.Duration
}

func (p *patrol) add(t *tunnel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tunnels == nil {
		p.tunnels = map[*tunnel]struct{}{}
	}
	p.tunnels[t] = struct{}{}
	if p.timer == nil {
		p.every = min(t.idle/4, quietLook) // all of a proxy have one idle time
		p.timer = time.AfterFunc(p.every, p.look)
	}
}

func (p *patrol) remove(t *tunnel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tunnels, t)
}

// look sets the timer again for as long as a tunnel is open.
func (p *patrol) look() {
	open := p.open()
	for _, t := range open {
		t.look(p.every)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tunnels) == 0 {
		p.timer, p.tunnels = nil, nil
		return
	}
	p.timer.Reset(p.every)
}

func (p *patrol) open() []*tunnel {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.tunnels))
}

// look is called by one patrol, again and again. What a tunnel has done before
// the first time is not known.
func (t *tunnel) look(every time.Duration) {
	q := &t.quiet
	now := t.sent.Load() + t.received.Load()
	if !q.seen || now != q.last {
		q.seen, q.last, q.time = true, now, 0
		return
	}
	q.time += every
	switch {
	case wasReset(t.client):
		t.abort(EndClient)
	case wasReset(t.up):
		t.abort(EndUpstream)
	case q.time >= t.idle:
		t.abort(EndIdle)
	}
}
