package launcher

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/jupyter"
)

// echo is a link whose every port sends back what it gets.
type echo struct{ dialled chan int }

func (e echo) Listen(context.Context, int) (net.Listener, error) { return nil, net.ErrClosed }
func (e echo) Signal(int) error                                  { return nil }

func (e echo) Dial(_ context.Context, port int) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() { io.Copy(theirs, theirs); theirs.Close() }()
	e.dialled <- port
	return ours, nil
}

func connection(ip, transport string, ports ...int) *jupyter.Connection {
	c := &jupyter.Connection{Transport: transport, IP: ip, Key: "k", SignatureScheme: "hmac-sha256"}
	for i, p := range []*int{&c.Shell, &c.IOPub, &c.Stdin, &c.Control, &c.HB} {
		if i < len(ports) {
			*p = ports[i]
		}
	}
	return c
}

func bridged(t *testing.T, c *jupyter.Connection) *bridge {
	t.Helper()
	b, err := listen(t.Context(), c)
	require.NoError(t, err)
	b.serve()
	t.Cleanup(b.close)
	return b
}

func say(t *testing.T, network, address, text string) string {
	t.Helper()
	c, err := net.Dial(network, address)
	require.NoError(t, err)
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	_, err = io.WriteString(c, text)
	require.NoError(t, err)
	b := make([]byte, len(text))
	_, err = io.ReadFull(c, b)
	require.NoError(t, err)
	return string(b)
}

func TestAClientThatComesBeforeTheKernelIsHeld(t *testing.T) {
	c := connection("127.0.0.1", "tcp")
	b := bridged(t, c)
	for _, p := range c.Ports() {
		require.NotZero(t, p)
	}
	got := make(chan string, 1)
	go func() { got <- say(t, "tcp", net.JoinHostPort("127.0.0.1", itoa(c.Shell)), "early") }()
	select {
	case <-got:
		t.Fatal("there is no kernel yet")
	case <-time.After(50 * time.Millisecond):
	}
	life, end := context.WithCancel(t.Context())
	defer end()
	b.attach(echo{make(chan int, 8)}, life)
	assert.Equal(t, "early", <-got)
}

func TestPortsGoWhereTheFileSays(t *testing.T) {
	c := connection("127.0.0.1", "tcp")
	b := bridged(t, c)
	life, end := context.WithCancel(t.Context())
	defer end()
	e := echo{make(chan int, 8)}
	b.attach(e, life)
	for _, p := range c.Ports() {
		say(t, "tcp", net.JoinHostPort("127.0.0.1", itoa(p)), "x")
		assert.Equal(t, p, <-e.dialled)
	}
}

func TestTheEndOfAKernelEndsItsConnectionsAndTheNextOneGetsNewOnes(t *testing.T) {
	c := connection("127.0.0.1", "tcp")
	b := bridged(t, c)
	life, end := context.WithCancel(t.Context())
	e := echo{make(chan int, 8)}
	b.attach(e, life)
	address := net.JoinHostPort("127.0.0.1", itoa(c.IOPub))
	client, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer client.Close()
	<-e.dialled
	end()
	client.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err = client.Read(make([]byte, 1))
	require.Error(t, err)
	require.False(t, os.IsTimeout(err), "a client must see that its kernel has gone")

	again, stop := context.WithCancel(t.Context())
	defer stop()
	b.attach(e, again)
	assert.Equal(t, "back", say(t, "tcp", address, "back"))
}

func TestIPCEndpoints(t *testing.T) {
	base := filepath.Join(t.TempDir(), "k")
	c := connection(base, "ipc", 1, 2, 3, 4, 5)
	b := bridged(t, c)
	life, end := context.WithCancel(t.Context())
	defer end()
	b.attach(echo{make(chan int, 8)}, life)
	assert.Equal(t, "x", say(t, "unix", base+"-1", "x"))
	b.close()
	left, err := filepath.Glob(base + "-*")
	require.NoError(t, err)
	assert.Empty(t, left, "the socket files are gone")
}

func TestATakenPortIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = listen(t.Context(), connection("127.0.0.1", "tcp", 0, 0, 0, port))
	var taken *PortTakenError
	require.ErrorAs(t, err, &taken)
	assert.Equal(t, "control", taken.Channel)
	assert.Contains(t, err.Error(), itoa(port))
}

func TestOneChannelTakesOnlySoManyConnections(t *testing.T) {
	c := connection("127.0.0.1", "tcp")
	b, err := listen(t.Context(), c)
	require.NoError(t, err)
	b.channels[0].slots = make(chan struct{}, 2)
	b.serve()
	t.Cleanup(b.close)
	address := net.JoinHostPort("127.0.0.1", itoa(c.Shell))
	var open []net.Conn
	for range 3 {
		n, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer n.Close()
		open = append(open, n)
	}
	open[2].SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err = open[2].Read(make([]byte, 1))
	require.Error(t, err)
	require.False(t, os.IsTimeout(err), "the third is closed at once")
}

func TestCopyingKeepsHalfClosedConnections(t *testing.T) {
	front, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer front.Close()
	go func() {
		a, err := front.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("tcp", front.Addr().String())
		if err != nil {
			return
		}
		both(a, b)
	}()
	client, err := net.Dial("tcp", front.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	far, err := front.Accept()
	require.NoError(t, err)
	defer far.Close()
	io.WriteString(client, "question")
	require.NoError(t, client.(*net.TCPConn).CloseWrite())
	q, err := io.ReadAll(far)
	require.NoError(t, err)
	assert.Equal(t, "question", string(q))
	answer := strings.Repeat("answer", 100_000)
	go func() { io.WriteString(far, answer); far.Close() }()
	got, err := io.ReadAll(client)
	require.NoError(t, err)
	assert.Equal(t, answer, string(got))
}
