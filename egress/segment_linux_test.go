package egress

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// watched remembers the connections that the proxy accepts, to see whether it
// has read what was sent.
type watched struct {
	net.Listener
	accepted chan *net.TCPConn
}

func (w watched) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err == nil {
		w.accepted <- c.(*net.TCPConn)
	}
	return c, err
}

// inSegments is a world whose clients can tell what of theirs has been read.
func inSegments(t *testing.T, adjust ...func(*world)) (*world, func(pieces ...string) *call) {
	accepted := make(chan *net.TCPConn, 1)
	w := newWorld(t, append(adjust, func(w *world) { w.wrap = func(l net.Listener) net.Listener { return watched{l, accepted} } })...)
	return w, func(pieces ...string) *call {
		c := w.call("")
		segments(t, c, <-accepted, pieces...)
		return c
	}
}

// segments sends each piece when the proxy has read the one before it.
func segments(t *testing.T, client net.Conn, accepted *net.TCPConn, pieces ...string) {
	raw, err := accepted.SyscallConn()
	require.NoError(t, err)
	for _, p := range pieces {
		for end, unread := time.Now().Add(20*time.Second), 1; unread != 0; {
			require.True(t, time.Now().Before(end), "%d bytes are not read", unread)
			err := raw.Control(func(fd uintptr) { unread, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
			if err != nil { // closed
				unread = 0
			}
		}
		io.WriteString(client, p)
	}
}

// gathering is an origin that tells everything that came through a connection.
func gathering(t *testing.T) (addr string, got chan string) {
	got = make(chan string, 1)
	return listen(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c)
		got <- string(all)
	}), got
}

// piecesOf are all the ways to send s in two, and the one to send it byte by
// byte.
func piecesOf(s string) (all [][]string) {
	for i := range len(s) - 1 {
		all = append(all, []string{s[:i+1], s[i+1:]})
	}
	return append(all, []string{s}, strings.Split(s, ""))
}

// However a request is cut, its host is dialled once, and what is behind the
// head arrives once.
func TestOneDialForATunnelInAnySegments(t *testing.T) {
	addr, got := gathering(t)
	w, send := inSegments(t, withOrigin(addr))
	ways := piecesOf(connectAllowed + "EARLY")
	for _, pieces := range ways {
		c := send(pieces...).opened()
		c.CloseWrite()
		require.Equal(t, "EARLY", <-got, "%q", pieces)
		c.Close()
	}
	_, dialled, _ := w.counts()
	assert.Equal(t, len(ways), dialled)
}

func TestOneDialForAnUploadInAnySegments(t *testing.T) {
	w, send := inSegments(t)
	ways := piecesOf("POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nHEL\r\n2\r\nLO\r\n0\r\n\r\n")
	for i, pieces := range ways {
		c := send(pieces...)
		resp, _ := c.answer()
		require.Equal(t, 200, resp.StatusCode, "%q", pieces)
		require.Equal(t, "HELLO", w.bodies[i], "%q", pieces)
		c.Close()
	}
	_, dialled, seen := w.counts()
	assert.Equal(t, [2]int{len(ways), len(ways)}, [2]int{dialled, seen})
}

// A body that comes while the host is dialled is not another request.
func TestOneDialForAnUploadDuringTheDial(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t)
	inner := w.proxy.Dial
	w.proxy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		close(begun)
		<-release
		return inner(ctx, network, address)
	}
	c := w.call("POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
	<-begun
	for _, piece := range []string{"HE", "LL", "O"} {
		c.send(piece)
	}
	close(release)
	resp, _ := c.answer()
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, []string{"HELLO"}, w.bodies)
	_, dialled, seen := w.counts()
	assert.Equal(t, [2]int{1, 1}, [2]int{dialled, seen})
}

// inRecords is a hello whose message is cut into two records.
func inRecords(hello string, at int) string {
	record := func(s string) string { return hello[:3] + string([]byte{byte(len(s) >> 8), byte(len(s))}) + s }
	return record(hello[5:at]) + record(hello[at:])
}

// A hello is read whole before it is judged, and arrives as it was sent.
func TestOneDialForAHelloInAnySegments(t *testing.T) {
	addr, got := gathering(t)
	w, send := inSegments(t, withOrigin(addr))
	hello := string(clientHello(t, &tls.Config{ServerName: "www.allowed.test"}))
	clients := 0
	for _, whole := range []string{hello, inRecords(hello, 6), inRecords(hello, len(hello)/2)} {
		ways := [][]string{append([]string{connectWWW}, strings.Split(whole, "")...)}
		for _, i := range []int{0, 1, 5, 6, 11, len(whole) / 2, len(whole) - 1, len(whole)} {
			ways = append(ways, []string{connectWWW + whole[:i], whole[i:] + "and more"}, []string{connectWWW, whole[:i], whole[i:] + "and more"})
		}
		for _, pieces := range ways {
			clients++
			c := send(pieces...).opened()
			c.CloseWrite()
			require.Equal(t, strings.Join(pieces, "")[len(connectWWW):], <-got)
			c.Close()
		}
	}
	_, dialled, _ := w.counts()
	assert.Equal(t, clients, dialled)
}
