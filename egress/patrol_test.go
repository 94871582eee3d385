package egress

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (p *patrol) set() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.timer != nil
}

func TestAPatrolIsOverWithTheLastTunnel(t *testing.T) {
	w := newWorld(t, func(w *world) { w.proxy.Bounds.Idle = 80 * time.Millisecond })
	require.False(t, w.proxy.patrol.set())
	a, b := w.call(connectAllowed).opened(), w.call(connectAllowed).opened()
	require.Eventually(t, w.proxy.patrol.set, time.Minute, time.Millisecond)
	assert.Equal(t, EndIdle, w.waitEvent(0).End)
	assert.Equal(t, EndIdle, w.waitEvent(1).End)
	a.Close()
	b.Close()
	require.Eventually(t, func() bool { return !w.proxy.patrol.set() }, time.Minute, time.Millisecond)
	w.call(connectAllowed).opened()
	assert.Equal(t, EndIdle, w.waitEvent(2).End, "the next one begins again")
}

// A tunnel is not ended before its idle time, whenever the patrol comes.
func TestATunnelThatIsYoungIsNotIdle(t *testing.T) {
	tunnel := &tunnel{idle: 4 * time.Second}
	for range 4 {
		tunnel.look(time.Second) // the first sees what has moved until then
	}
	assert.Less(t, tunnel.quiet.time, tunnel.idle)
	tunnel.sent.Add(1)
	tunnel.look(time.Second)
	assert.Zero(t, tunnel.quiet.time)
}

// open stays open when it is closed, as one that hangs does.
type open struct{ net.Conn }

func (open) Close() error { return nil }

// A client that is stopped when its tunnel is about to begin has none to abort
// yet.
func TestAClientThatIsStoppedBeforeItsTunnelEndsIt(t *testing.T) {
	near, far := net.Pipe()
	up, host := net.Pipe()
	defer far.Close()
	defer host.Close()
	c := &client{p: &Proxy{}, conn: open{near}}
	c.ctx, c.end = context.WithCancelCause(untilClose{})
	c.stop(errNoLonger)
	ended := make(chan string, 1)
	tunnel := c.opened(up)
	tunnel.idle = time.Hour
	go func() { ended <- c.through(tunnel) }()
	select {
	case end := <-ended:
		assert.Equal(t, EndDenied, end)
	case <-time.After(10 * time.Second):
		t.Fatal("the tunnel goes on")
	}
}
