package egress

import (
	"bufio"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watching gives a client whose head has been read, and the other end of its
// connection.
func watching(t *testing.T, p *Proxy) (*client, net.Conn) {
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	c := &client{p: p, conn: near, r: bufio.NewReaderSize(near, 4<<10)}
	c.ctx, c.end = t.Context(), func(error) {}
	return c, far
}

func (l *lookout) counts() (young, old int, set bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.young), len(l.old), l.timer != nil
}

func TestADialThatIsOverAtOnceIsNotWatched(t *testing.T) {
	p := &Proxy{}
	c, far := watching(t, p)
	w := c.watchEarly()
	early, gone := w.stop()
	assert.Empty(t, early)
	assert.False(t, gone)
	require.Eventually(t, func() bool {
		young, old, set := p.lookout.counts()
		return young == 0 && old == 0 && !set
	}, time.Minute, time.Millisecond, "its timer is set no more when nothing dials")
	far.SetWriteDeadline(time.Now().Add(3 * lookEvery))
	_, err := far.Write([]byte("late"))
	require.Error(t, err, "nobody reads")
}

func TestADialThatTakesLongIsWatched(t *testing.T) {
	p := &Proxy{}
	c, far := watching(t, p)
	w := c.watchEarly()
	_, err := far.Write([]byte("early")) // returns when it is read
	require.NoError(t, err)
	early, gone := w.stop()
	assert.Equal(t, "early", string(early))
	assert.False(t, gone)
}

// Whichever of the two comes first: the end of a client that said nothing, or
// the end of the look-up.
func TestAnEndWithoutAByteEndsTheDialAndNotTheLookUp(t *testing.T) {
	for _, dialsFirst := range []bool{true, false} {
		c, far := watching(t, &Proxy{})
		w := c.watchEarly()
		if dialsFirst {
			w.dials()
		}
		far.Close()
		if !dialsFirst {
			require.Eventually(t, func() bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				return w.ended
			}, time.Minute, time.Millisecond)
			require.NoError(t, w.ctx.Err(), "a verdict on the name is still an answer")
			w.dials()
		}
		select {
		case <-w.ctx.Done():
		case <-time.After(time.Minute):
			t.Fatal("the dial goes on")
		}
		_, gone := w.stop()
		assert.False(t, gone, "it may still read")
	}
}
