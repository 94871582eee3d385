package egress

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// tunnel carries bytes both ways. An end of stream on one side is passed to
// the other and leaves the opposite direction open.
type tunnel struct {
	client, up  net.Conn
	patrol      *patrol
	target      Target // when TLS begins, it must name this host; without one it may name any
	early, back []byte // read from client and from up before the tunnel
	idle        time.Duration
	hello       time.Duration // how long a ClientHello that has begun may take

	sent, received atomic.Int64
	ended          atomic.Int32 // directions that are done
	once           sync.Once
	end            string
	other          bool // TLS named another host
	quiet          quiet
	both           sync.WaitGroup

	fromClient, fromUp source
}

// opened gives a tunnel from the client to up.
func (c *client) opened(up net.Conn) *tunnel {
	return &tunnel{client: c.conn, up: up, patrol: &c.p.patrol, idle: c.b.Idle, fromClient: newSource(c.conn), fromUp: newSource(up)}
}

// run returns when both directions are done. The connections are then useless
// but not closed. An idle tunnel is two small stacks: what is deep is left
// before it begins, or to functions that return.
func (t *tunnel) run(ctx context.Context) string {
	t.patrol.add(t)
	t.both.Go(func() { t.send(ctx) })
	t.receive()
	t.both.Wait()
	t.patrol.remove(t)
	t.once.Do(func() { t.end = EndClosed })
	return t.end
}

func (t *tunnel) send(ctx context.Context) {
	early := t.early
	t.early = nil // a long tunnel does not hold it
	if early, ok := t.begin(ctx, early); ok {
		t.carry(t.up, t.client, t.fromClient, early, &t.sent, EndUpstream, EndClient)
	}
}

func (t *tunnel) receive() {
	back := t.back
	t.back = nil
	t.carry(t.client, t.up, t.fromUp, back, &t.received, EndClient, EndUpstream)
}

// begin waits for the first bytes of the client and judges them. The other
// direction goes on meanwhile: in some protocols the host speaks first.
func (t *tunnel) begin(ctx context.Context, early []byte) ([]byte, bool) {
	if t.target == (Target{}) {
		return early, true
	}
	if len(early) == 0 {
		buf, n, _ := t.fromClient.next() // an error comes again when the rest is copied
		if buf != nil {
			early = bytes.Clone((*buf)[:n])
			putBuffer(buf)
		}
	}
	whole, err := inspectWhole(t.target, early)
	if !whole {
		slow := time.AfterFunc(t.hello, func() { t.abort(EndIdle) })
		defer slow.Stop()
		early, err = inspect(ctx, t.target, early, t.client)
	}
	if err == nil {
		return early, true
	}
	t.other = true
	t.client.Write(unrecognizedName)
	t.abort(EndRefused)
	return nil, false
}

// carry copies one direction. A side that breaks ends both, because nobody
// would learn of it otherwise; a side that only takes no more ends this
// direction, since its answer may still be on the way.
func (t *tunnel) carry(dst, src net.Conn, in source, first []byte, n *atomic.Int64, dstEnd, srcEnd string) {
	readErr, writeErr := copyBehind(dst, src, in, first, n)
	switch {
	case readErr != nil:
		t.abort(srcEnd)
		return
	case writeErr != nil:
		t.note(dstEnd)
	default:
		closeWrite(dst)
	}
	if t.ended.Add(1) == 2 {
		t.abort(EndClosed)
	} else if writeErr == nil && brokeOff(src) { // nobody reads from it any more
		t.abort(srcEnd)
	}
}

func (t *tunnel) note(end string) { t.once.Do(func() { t.end = end }) }

// abort unblocks both directions.
func (t *tunnel) abort(end string) {
	t.note(end)
	t.client.SetDeadline(past)
	t.up.SetDeadline(past)
}
