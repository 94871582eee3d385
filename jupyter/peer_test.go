package jupyter

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// peer plays a kernel that does what a real one does not. Each channel is served by a function that gets its connections.
type peer struct {
	conn  *Connection
	iopub chan *zmq4.Conn
}

func startPeer(t *testing.T, serve map[Channel]func(*peer, net.Conn)) *peer {
	t.Helper()
	p := &peer{conn: testConnection(t, "k-example", "hmac-sha256"), iopub: make(chan *zmq4.Conn, 1)}
	var group sync.WaitGroup
	for _, ch := range dialled {
		network, address := p.conn.Address(ch)
		l, err := net.Listen(network, address)
		require.NoError(t, err)
		f := serve[ch]
		if f == nil {
			f = accepting(ch)
		}
		group.Go(func() {
			for {
				nc, err := l.Accept()
				if err != nil {
					return
				}
				group.Go(func() { f(p, nc) })
			}
		})
		t.Cleanup(func() { l.Close() })
	}
	return p
}

// accepting does the handshake and reads on until the client leaves.
func accepting(ch Channel) func(*peer, net.Conn) {
	return func(p *peer, nc net.Conn) {
		defer nc.Close()
		kind := zmq4.Router
		if ch == IOPub {
			kind = zmq4.XPub
		}
		zc, err := zmq4.Open(nc, null.Security(), kind, nil, true, nil)
		if err != nil {
			return
		}
		if ch == IOPub {
			p.iopub <- zc
		}
		for err == nil {
			_, err = zc.RecvMsg()
		}
	}
}

// answering calls f for each request on a channel; f sends what it likes.
func answering(t *testing.T, f func(p *peer, zc *zmq4.Conn, request Message)) func(*peer, net.Conn) {
	return func(p *peer, nc net.Conn) {
		defer nc.Close()
		zc, err := zmq4.Open(nc, null.Security(), zmq4.Router, nil, true, nil)
		if err != nil {
			return
		}
		for {
			msg, err := zc.RecvMsg()
			if err != nil {
				return
			}
			request, err := decode(msg.Frames, p.signer(p.conn.Key), "")
			assert.NoError(t, err)
			f(p, zc, request)
		}
	}
}

func (p *peer) signer(key string) signer {
	s, _ := newSigner(key, p.conn.SignatureScheme)
	return s
}

// tell sends a message signed with key.
func (p *peer) tell(t *testing.T, zc *zmq4.Conn, key, kind string, parent Message, content any) {
	m, err := newMessage(kind, "peer", content)
	assert.NoError(t, err)
	m.Parent = parent.Header
	frames, err := m.encode(p.signer(key))
	assert.NoError(t, err)
	assert.NoError(t, zc.SendMsg(zmq4.NewMsgFrom(frames...)))
}

func (p *peer) tellIOPub(t *testing.T, key, kind string, parent Message, content any) {
	zc := <-p.iopub
	p.tell(t, zc, key, kind, parent, content)
	p.iopub <- zc
}

type content map[string]any

func TestWronglySignedMessagesAreDropped(t *testing.T) {
	p := startPeer(t, map[Channel]func(*peer, net.Conn){Shell: answering(t, func(p *peer, zc *zmq4.Conn, r Message) {
		if r.Header.Type == "kernel_info_request" {
			p.tell(t, zc, "forged", "kernel_info_reply", r, content{"implementation": "forged"})
			p.tellIOPub(t, p.conn.Key, "status", r, content{"execution_state": "idle"})
			p.tell(t, zc, p.conn.Key, "kernel_info_reply", r, content{"implementation": "real"})
			return
		}
		for _, key := range []string{"forged", "", p.conn.Key} {
			p.tellIOPub(t, key, "stream", r, content{"name": "stdout", "text": "by " + key + "\n"})
		}
		p.tell(t, zc, "forged", "execute_reply", r, content{"status": "ok"})
		p.tell(t, zc, p.conn.Key, "execute_reply", r, content{"status": "aborted"})
		p.tellIOPub(t, p.conn.Key, "status", r, content{"execution_state": "idle"})
	})})
	c := dialKernel(t, p.conn)
	info, err := c.KernelInfo(within(t, 10*time.Second))
	require.NoError(t, err)
	assert.Equal(t, "real", info.Implementation)
	out, _, reply := run(t, c, "x")
	assert.Equal(t, "by k-example\n", out)
	assert.Equal(t, "aborted", reply.Status)
	assert.GreaterOrEqual(t, c.Dropped(), 5)
}

func TestOutputThatIsMissedAtFirstIsWaitedFor(t *testing.T) {
	var asked atomic.Int32
	p := startPeer(t, map[Channel]func(*peer, net.Conn){Shell: answering(t, func(p *peer, zc *zmq4.Conn, r Message) {
		if asked.Add(1) == 3 { // the subscription took effect late
			p.tellIOPub(t, p.conn.Key, "status", r, content{"execution_state": "busy"})
		}
		p.tell(t, zc, p.conn.Key, "kernel_info_reply", r, content{})
	})})
	dialKernel(t, p.conn)
	assert.GreaterOrEqual(t, asked.Load(), int32(3))
}

func TestErrorReplies(t *testing.T) {
	p := startPeer(t, map[Channel]func(*peer, net.Conn){Control: answering(t, func(p *peer, zc *zmq4.Conn, r Message) {
		kind := strings.TrimSuffix(r.Header.Type, "_request") + "_reply"
		p.tell(t, zc, p.conn.Key, kind, r, content{"status": "error", "ename": "NotImplementedError", "evalue": "not here"})
	})})
	c, err := Dial(within(t, 10*time.Second), p.conn)
	require.NoError(t, err)
	defer c.Close()
	err = c.Interrupt(within(t, 10*time.Second))
	var reply *ReplyError
	require.ErrorAs(t, err, &reply)
	assert.EqualError(t, err, `interrupt_request: the kernel answered with status "error": NotImplementedError: not here`)
}

// handshaken sends raw bytes after a proper handshake and then holds the connection.
func handshaken(raw []byte) func(*peer, net.Conn) {
	return func(_ *peer, nc net.Conn) {
		defer nc.Close()
		if _, err := zmq4.Open(nc, null.Security(), zmq4.Router, nil, true, nil); err != nil {
			return
		}
		if _, err := nc.Write(raw); err == nil {
			_, _ = io.Copy(io.Discard, nc)
		}
	}
}

func TestHostileFramesEndTheConnection(t *testing.T) {
	longFrame := func(flags byte, size ...byte) []byte { return append([]byte{flags}, size...) }
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"a frame of 2^62 bytes":   {longFrame(frameLong, 0x40, 0, 0, 0, 0, 0, 0, 0), "message larger than"},
		"a frame of 1 TiB":        {longFrame(frameLong|frameMore, 0, 0, 1, 0, 0, 0, 0, 0), "message larger than"},
		"frames without end":      {[]byte(strings.Repeat("\x01\x00", MaxFrames+1)), "message with more than"},
		"a huge command":          {longFrame(frameLong|frameCommand, 0, 0, 1, 0, 0, 0, 0, 0), "command larger than"},
		"a size that overflows":   {longFrame(frameLong, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "message larger than"},
		"two frames that overrun": {append([]byte("\x01\x01x"), longFrame(frameLong, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)...), "message larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startPeer(t, map[Channel]func(*peer, net.Conn){Control: handshaken(c.raw)})
			client, err := Dial(within(t, 10*time.Second), p.conn)
			require.NoError(t, err)
			defer client.Close()
			select {
			case <-client.wire(Control).lost:
			case <-time.After(10 * time.Second):
				require.Fail(t, "the connection stands")
			}
			assert.ErrorContains(t, client.wire(Control).err, c.want)
		})
	}
}

func TestCommandsBetweenMessagesAreDropped(t *testing.T) {
	ping := "\x04\x07\x04PING\x00\x0a"
	server, client := net.Pipe()
	defer server.Close()
	go func() {
		_, _ = server.Write([]byte(ping + "\x01\x01a" + ping + "\x00\x02bc" + ping + "\x00\x00" + "\x00\x01d"))
	}()
	g := &guard{Conn: client, in: bufio.NewReader(client), connected: true}
	buf := make([]byte, 3+4+2+3)
	_, err := io.ReadFull(g, buf[:3+4])
	require.NoError(t, err)
	_, err = io.ReadFull(g, buf[3+4:])
	require.NoError(t, err)
	assert.Equal(t, "\x01\x01a\x00\x02bc\x00\x00\x00\x01d", string(buf))
}

func TestHostileHandshakes(t *testing.T) {
	greeting := make([]byte, zmtpGreeting)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	ready := func(body string) string { return "\x04" + string(rune(len(body)+6)) + "\x05READY" + body }
	for name, c := range map[string]struct{ raw, want string }{
		"HTTP":                    {"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "greeting"},
		"a socket of no type":     {string(greeting) + ready("\x0bSocket-Type\x00\x00\x00\x03ABC"), "malformed ZMTP"},
		"a property that is cut":  {string(greeting) + ready("\xff"), "ZMTP"},
		"a huge READY":            {string(greeting) + "\x06\x00\x00\x00\x7f\x00\x00\x00\x00", "message larger than"},
		"another socket type":     {string(greeting) + ready("\x0bSocket-Type\x00\x00\x00\x03PUB"), "not compatible"},
		"closed in the handshake": {string(greeting), "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startPeer(t, map[Channel]func(*peer, net.Conn){Stdin: func(_ *peer, nc net.Conn) {
				defer nc.Close()
				_, _ = nc.Write([]byte(c.raw))
				if w, ok := nc.(*net.TCPConn); ok {
					_ = w.CloseWrite()
				}
				_, _ = io.Copy(io.Discard, nc)
			}})
			_, err := openWire(within(t, 10*time.Second), p.conn, Stdin, "id")
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestACellThatNeverSaysIdleStillEnds(t *testing.T) {
	p := startPeer(t, map[Channel]func(*peer, net.Conn){Shell: answering(t, func(p *peer, zc *zmq4.Conn, r Message) {
		if r.Header.Type == "kernel_info_request" {
			p.tellIOPub(t, p.conn.Key, "status", r, content{"execution_state": "busy"})
		}
		p.tell(t, zc, p.conn.Key, strings.TrimSuffix(r.Header.Type, "_request")+"_reply", r, content{"status": "ok"})
	})})
	c := dialKernel(t, p.conn)
	c.idleWait = 200 * time.Millisecond
	reply, err := c.Execute(within(t, time.Minute), "x", ExecuteOptions{})
	require.NoError(t, err)
	assert.Equal(t, "ok", reply.Status)
	assert.False(t, reply.Complete)
}

func TestAKernelThatDoesNotReadHoldsNobody(t *testing.T) {
	release := make(chan struct{})
	var once atomic.Bool
	p := startPeer(t, map[Channel]func(*peer, net.Conn){Shell: func(p *peer, nc net.Conn) {
		defer nc.Close()
		zc, err := zmq4.Open(nc, null.Security(), zmq4.Router, nil, true, nil)
		if err != nil || once.Swap(true) {
			return
		}
		msg, err := zc.RecvMsg()
		assert.NoError(t, err)
		request, err := decode(msg.Frames, p.signer(p.conn.Key), "")
		assert.NoError(t, err)
		p.tellIOPub(t, p.conn.Key, "status", request, content{"execution_state": "idle"})
		p.tell(t, zc, p.conn.Key, "kernel_info_reply", request, content{})
		<-release
	}})
	defer close(release)
	c := dialKernel(t, p.conn)
	began := time.Now()
	err := c.wire(Shell).send(within(t, 300*time.Millisecond), [][]byte{make([]byte, 64<<20)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(began), 10*time.Second)
	assert.False(t, c.wire(Shell).alive(), "half a message was written: the connection is of no use")
	require.NoError(t, c.Close())
}

func TestAnEndedContextLeavesTheConnection(t *testing.T) {
	p := startPeer(t, nil)
	c, err := Dial(within(t, 10*time.Second), p.conn)
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithCancel(within(t, time.Minute))
	cancel()
	for range 20 {
		require.ErrorIs(t, c.Interrupt(ctx), context.Canceled)
	}
	assert.True(t, c.wire(Control).alive())
}

func TestASlowReaderHoldsTheKernelBack(t *testing.T) {
	q := newQueue()
	closed := make(chan struct{})
	big := Message{Content: json.RawMessage(strings.Repeat(" ", maxQueued/2+1))}
	q.push(big, closed)
	pushed := make(chan struct{})
	go func() { q.push(big, closed); close(pushed) }()
	select {
	case <-pushed:
		require.Fail(t, "more than the bound was taken")
	case <-time.After(50 * time.Millisecond):
	}
	assert.Len(t, q.popAll(), 1)
	<-pushed
	assert.Len(t, q.popAll(), 1)

	q.push(big, closed)
	gone := make(chan struct{})
	go func() { q.push(big, closed); close(gone) }()
	close(closed)
	<-gone // a closed client waits for nobody
}
