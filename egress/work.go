package egress

import (
	"context"
	"net"
)

// overflow is how many connections above the bound are told so; what comes
// beyond them is closed without a word.
const overflow = 16

// admit has a worker serve the connection, or closes it when there are too
// many.
func (p *Proxy) admit(ctx context.Context, conn net.Conn) {
	b := p.Bounds.withDefaults()
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil || len(p.clients) >= b.Connections+overflow {
		conn.Close()
		return
	}
	c := &client{p: p, b: b, conn: conn, full: len(p.clients) >= b.Connections}
	c.ctx, c.end = context.WithCancelCause(untilClose{}) // Close knows them all
	p.clients[c] = struct{}{}
	p.wg.Add(1)
	select {
	case p.jobs <- c:
	default:
		go p.work(ctx, c)
	}
}

// resting is how many workers wait for the next connection.
const resting = 8

// work serves one connection after another: the stack that dialling takes is
// large, and growing one for each connection costs more than keeping a few.
func (p *Proxy) work(ctx context.Context, c *client) {
	for {
		c.run()
		if p.idle.Add(1) > resting {
			p.idle.Add(-1)
			return
		}
		select {
		case c = <-p.jobs:
			p.idle.Add(-1)
		case <-ctx.Done():
			return
		}
	}
}
