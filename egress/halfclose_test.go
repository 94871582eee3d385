package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// halfClosed is how much comes after one side has ended: more than what the
// system's buffers hold, so that it is carried and not only delivered.
const halfClosed = 40 << 20

// afterwards reads until the client has ended its side, answers head and size
// bytes, and says what it has read.
func afterwards(t *testing.T, head string) (addr string, asked chan string) {
	asked = make(chan string, 1)
	return listen(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c)
		asked <- string(all)
		io.WriteString(c, head)
		copyPlainly(c, io.LimitReader(newSeries(), halfClosed))
	}), asked
}

func TestAClientThatEndsItsSideGetsTheWholeAnswer(t *testing.T) {
	addr, asked := afterwards(t, "")
	w := newWorld(t, withOrigin(addr))
	c := w.call(connectAllowed).opened()
	c.send("question")
	c.CloseWrite()
	requireSeries(t, c.rest())
	assert.Equal(t, "question", <-asked)
	e := w.waitEvent(0)
	assert.Equal(t, []any{EndClosed, int64(len("question")), int64(halfClosed)}, []any{e.End, e.Sent, e.Received})
}

// requireSeries reads r to its end.
func requireSeries(t *testing.T, r io.Reader) {
	t.Helper()
	got := newSeries()
	require.NoError(t, copyPlainly(got, r))
	require.Equal(t, int64(halfClosed), got.at)
}

// It may even end before the host is reached, when it has said something.
func TestAClientThatEndsItsSideDuringTheDialGetsTheWholeAnswer(t *testing.T) {
	addr, asked := afterwards(t, "")
	begun, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, withOrigin(addr))
	inner := w.proxy.Dial
	w.proxy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		close(begun)
		<-release
		return inner(ctx, network, address)
	}
	c := w.call(connectAllowed + "question")
	<-begun
	c.CloseWrite()
	close(release)
	requireSeries(t, c.opened().rest())
	assert.Equal(t, "question", <-asked)
}

func TestAHostThatEndsItsSideGetsAllThatFollows(t *testing.T) {
	got := make(chan error, 1)
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		io.WriteString(c, "bye")
		c.CloseWrite()
		s := newSeries()
		err := copyPlainly(s, c)
		if err == nil && s.at != halfClosed {
			err = fmt.Errorf("%d bytes", s.at)
		}
		got <- err
	})))
	c := w.call(connectAllowed).opened()
	all, err := io.ReadAll(c.r)
	require.NoError(t, err)
	assert.Equal(t, "bye", string(all))
	require.NoError(t, copyPlainly(c, io.LimitReader(newSeries(), halfClosed)))
	c.CloseWrite()
	require.NoError(t, <-got)
	e := w.waitEvent(0)
	assert.Equal(t, []any{EndClosed, int64(halfClosed), int64(len("bye"))}, []any{e.End, e.Sent, e.Received})
}

// A plain request, and a WebSocket, whose client has nothing more to say.
func TestAPlainClientThatEndsItsSideGetsTheWholeAnswer(t *testing.T) {
	for name, c := range map[string]struct{ raw, head string }{
		"request":   {get("http://allowed.test/"), fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", halfClosed)},
		"until end": {get("http://allowed.test/"), "HTTP/1.0 200 OK\r\n\r\n"},
		"upgrade":   {"GET http://allowed.test/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withOrigin(listen(t, func(o *net.TCPConn) {
				if _, err := http.ReadRequest(bufio.NewReader(o)); err != nil {
					return
				}
				io.WriteString(o, c.head)
				copyPlainly(o, io.LimitReader(newSeries(), halfClosed))
			})))
			call := w.call(c.raw)
			call.CloseWrite()
			resp, err := http.ReadResponse(call.r, nil)
			require.NoError(t, err)
			if resp.StatusCode == 101 {
				requireSeries(t, call.rest())
				return
			}
			requireSeries(t, resp.Body)
		})
	}
}
