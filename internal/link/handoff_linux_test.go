package link

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// pair is a Handoff and the end that plays the inside.
func pair(t *testing.T) (*Handoff, *Conn) {
	t.Helper()
	ours, f, err := Pair()
	require.NoError(t, err)
	theirs, err := fromFile(f)
	require.NoError(t, err)
	h := NewHandoff(ours)
	t.Cleanup(func() { theirs.Close(); h.Close(); <-h.Done() })
	return h, theirs
}

func short(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func hello(t *testing.T, c *Conn) {
	t.Helper()
	require.NoError(t, c.Send(Message{Kind: Hello, Version: Version}))
}

// listener opens a TCP listener and gives its descriptor, as the inside does.
func listener(t *testing.T, network, address string) (net.Listener, int, int) {
	t.Helper()
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	l, err := c.Listen(t.Context(), network, address)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	f, err := l.(interface{ File() (*os.File, error) }).File()
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	port := 0
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		port = a.Port
	}
	return l, port, int(f.Fd())
}

// freePort is one that nobody listens on. The fake inside sends another socket for it.
func freePort(t *testing.T) int {
	l, port, _ := listener(t, "tcp4", "127.0.0.1:0")
	l.Close()
	return port
}

func TestAListenerCrosses(t *testing.T) {
	h, in := pair(t)
	hello(t, in)
	require.NoError(t, h.Hello(short(t)))
	_, port, fd := listener(t, "tcp4", "127.0.0.1:0")
	go func() {
		m, _, err := in.Receive()
		if err == nil && m.Kind == Listen {
			in.Send(Message{Kind: Listening, ID: m.ID}, fd)
		}
	}()
	l, err := h.Listen(short(t), port)
	require.NoError(t, err)
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	c.Close()
	got, err := l.Accept()
	require.NoError(t, err)
	got.Close()
}

func TestHelloComesFirstAndSpeaksThisVersion(t *testing.T) {
	for name, m := range map[string]Message{
		"something before hello": {Kind: Started},
		"another version":        {Kind: Hello, Version: Version + 1},
	} {
		t.Run(name, func(t *testing.T) {
			h, in := pair(t)
			require.NoError(t, in.Send(m))
			var p *ProtocolError
			require.ErrorAs(t, h.Hello(short(t)), &p)
		})
	}
}

func TestWhatTheInsideNeverSaysEndsTheLink(t *testing.T) {
	devNull, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer devNull.Close()
	for name, say := range map[string]func(c *Conn) error{
		"unknown word":              func(c *Conn) error { return c.Send(Message{Kind: "open"}) },
		"hello twice":               func(c *Conn) error { return c.Send(Message{Kind: Hello, Version: Version}) },
		"exited without started":    func(c *Conn) error { return c.Send(Message{Kind: Exited}) },
		"answer without a question": func(c *Conn) error { return c.Send(Message{Kind: Dialed, ID: 7, Text: "x"}) },
		"socket without a question": func(c *Conn) error { return c.Send(Message{Kind: Listening, ID: 7}, int(devNull.Fd())) },
		"descriptor with a word":    func(c *Conn) error { return c.Send(Message{Kind: Started}, int(devNull.Fd())) },
		"many descriptors": func(c *Conn) error {
			fd := int(devNull.Fd())
			return c.Send(Message{Kind: Dialed, ID: 1}, fd, fd, fd, fd, fd, fd, fd, fd)
		},
		"no JSON":  func(c *Conn) error { return raw(c, []byte("hello")) },
		"too long": func(c *Conn) error { return raw(c, []byte(`{"kind":"`+strings.Repeat("x", MaxMessage)+`"}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			before := descriptors(t)
			h, in := pair(t)
			hello(t, in)
			require.NoError(t, h.Hello(short(t)))
			require.NoError(t, say(in))
			<-h.Done()
			_, err := h.Exit()
			var p *ProtocolError
			require.ErrorAs(t, err, &p)
			in.Close()
			assert.LessOrEqual(t, descriptors(t), before, "every descriptor that came was closed")
		})
	}
}

func raw(c *Conn, b []byte) error {
	_, err := c.c.Write(b)
	return err
}

func descriptors(t *testing.T) int {
	t.Helper()
	e, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(e)
}

func TestAReceivedSocketIsCheckedBeforeUse(t *testing.T) {
	_, _, v6 := listener(t, "tcp6", "[::1]:0")
	_, _, local := listener(t, "unix", t.TempDir()+"/s")
	_, other, tcp := listener(t, "tcp4", "127.0.0.1:0")
	_, everywherePort, everywhere := listener(t, "tcp4", "0.0.0.0:0")
	conn, err := net.Dial("tcp4", (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: other}).String())
	require.NoError(t, err)
	defer conn.Close()
	f, err := conn.(*net.TCPConn).File()
	require.NoError(t, err)
	defer f.Close()
	udp, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(udp)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()

	for name, c := range map[string]struct{ port, fd int }{
		"another family":       {other, v6},
		"a unix socket":        {other, local},
		"another port":         {freePort(t), tcp},
		"every address":        {everywherePort, everywhere},
		"connected, no listen": {other, int(f.Fd())},
		"udp":                  {other, udp},
		"no socket":            {other, int(null.Fd())},
	} {
		t.Run(name, func(t *testing.T) {
			h, in := pair(t)
			hello(t, in)
			go func() {
				if m, _, err := in.Receive(); err == nil {
					in.Send(Message{Kind: Listening, ID: m.ID}, c.fd)
				}
			}()
			_, err := h.Listen(short(t), c.port)
			require.Error(t, err)
			<-h.Done()
			_, end := h.Exit()
			var p *ProtocolError
			require.ErrorAs(t, end, &p)
		})
	}
}

func TestAGivenUpDialClosesWhatComesLate(t *testing.T) {
	h, in := pair(t)
	hello(t, in)
	l, port, _ := listener(t, "tcp4", "127.0.0.1:0")
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan Message, 1)
	go func() {
		m, _, _ := in.Receive()
		asked <- m
		cancel()
	}()
	_, err := h.Dial(ctx, port)
	require.ErrorIs(t, err, context.Canceled)
	m, _, err := in.Receive()
	require.NoError(t, err)
	assert.Equal(t, Cancel, m.Kind)

	conn, err := net.Dial("tcp4", l.Addr().String())
	require.NoError(t, err)
	f, err := conn.(*net.TCPConn).File()
	require.NoError(t, err)
	require.NoError(t, in.Send(Message{Kind: Dialed, ID: (<-asked).ID}, int(f.Fd())))
	f.Close()
	conn.Close()
	server, err := l.Accept()
	require.NoError(t, err)
	server.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, err = server.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the launcher closed the socket that nobody waited for")
}

func TestTheEndAnswersEveryQuestion(t *testing.T) {
	h, in := pair(t)
	hello(t, in)
	failed := make(chan error, 2)
	for range 2 {
		go func() { _, err := h.Dial(t.Context(), 9); failed <- err }()
	}
	for range 2 {
		_, _, err := in.Receive()
		require.NoError(t, err)
	}
	in.Close()
	for range 2 {
		require.ErrorIs(t, <-failed, ErrClosed)
	}
	_, err := h.Dial(t.Context(), 9)
	require.ErrorIs(t, err, ErrClosed)
}

func TestAnOrderLongerThanASocketTakesArrivesWhole(t *testing.T) {
	h, in := pair(t)
	hello(t, in)
	sent := Order{Argv: []string{"/bin/true"}, Env: []string{"BIG=" + strings.Repeat("x", 1<<20)}, Dir: "/"}
	got := make(chan Order, 1)
	go func() {
		m, f, err := in.Receive()
		if err != nil || m.Kind != Start || f == nil {
			return
		}
		defer f.Close()
		if o, err := ReadOrder(f); err == nil {
			got <- o
			in.Send(Message{Kind: Started})
			in.Send(Message{Kind: Exited, Status: 3})
			in.Close()
		}
	}()
	require.NoError(t, h.Start(short(t), sent))
	assert.Equal(t, sent, <-got)
	<-h.Done()
	exit, err := h.Exit()
	assert.Equal(t, &Exit{Status: 3}, exit)
	assert.ErrorIs(t, err, io.EOF)

	var long *ProtocolError
	err = h.conn.SendOrder(Order{Argv: []string{strings.Repeat("x", MaxOrder)}})
	require.Error(t, err)
	assert.False(t, errors.As(err, &long))
}

func TestAnOrderNeedNotWaitForTheListenerBeforeIt(t *testing.T) {
	h, in := pair(t)
	hello(t, in)
	require.NoError(t, h.Hello(short(t)))
	_, port, fd := listener(t, "tcp4", "127.0.0.1:0")
	answer := h.Listening(port)
	started := make(chan error, 1)
	go func() { started <- h.Start(short(t), Order{Argv: []string{"/bin/true"}}) }()
	asked, _, err := in.Receive()
	require.NoError(t, err)
	assert.Equal(t, Listen, asked.Kind)
	m, order, err := in.Receive() // and nothing was answered yet
	require.NoError(t, err)
	assert.Equal(t, Start, m.Kind)
	require.NoError(t, order.Close())
	require.NoError(t, in.Send(Message{Kind: Listening, ID: asked.ID}, fd))
	require.NoError(t, in.Send(Message{Kind: Started}))
	require.NoError(t, <-started)
	l, err := answer(short(t))
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

func TestAListenerThatCannotBeAskedForSaysSo(t *testing.T) {
	h, _ := pair(t)
	require.NoError(t, h.Close())
	<-h.Done()
	_, err := h.Listening(3128)(short(t))
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorContains(t, err, "3128")
}
