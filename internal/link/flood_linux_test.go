package link

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// works is true when a link still carries a question and its answer.
func works(t *testing.T, h *Handoff, in *Conn) {
	t.Helper()
	_, port, fd := listener(t, "tcp4", "127.0.0.1:0")
	go func() {
		if m, _, err := in.Receive(); err == nil {
			in.Send(Message{Kind: Listening, ID: m.ID}, fd)
		}
	}()
	l, err := h.Listen(short(t), port)
	require.NoError(t, err)
	l.Close()
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestAFloodEndsItsOwnLinkAlone(t *testing.T) {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	fd := int(null.Fd())
	long := strings.Repeat("x", MaxMessage-200)
	for name, say := range map[string]func(c *Conn, i int) error{
		"answers with descriptors": func(c *Conn, i int) error { return c.Send(Message{Kind: Dialed, ID: uint32(i)}, fd) },
		"many descriptors":         func(c *Conn, _ int) error { return c.Send(Message{Kind: Listening, ID: 1}, fd, fd, fd, fd, fd, fd, fd) },
		"long answers":             func(c *Conn, i int) error { return c.Send(Message{Kind: Dialed, ID: uint32(i), Text: long}) },
		"beginnings":               func(c *Conn, _ int) error { return c.Send(Message{Kind: Started}) },
		"failures":                 func(c *Conn, _ int) error { return c.Send(Message{Kind: Failed, Text: long}) },
		"noise":                    func(c *Conn, _ int) error { return raw(c, []byte(long)) },
	} {
		t.Run(name, func(t *testing.T) {
			other, inOther := pair(t)
			hello(t, inOther)
			works(t, other, inOther)
			before, held := descriptors(t), heap()
			h, in := pair(t)
			hello(t, in)
			sent := 0
			for sent < 10_000 && say(in, sent) == nil {
				sent++
			}
			select {
			case <-h.Done():
			case <-time.After(5 * time.Second):
				t.Fatal("the link goes on")
			}
			_, err := h.Exit()
			var p *ProtocolError
			require.ErrorAs(t, err, &p)
			require.Error(t, raw(in, []byte("{}")), "nothing is taken any more")
			in.Close()
			assert.LessOrEqual(t, descriptors(t), before, "after %d messages", sent)
			assert.Less(t, heap(), held+1<<20)
			works(t, other, inOther)
		})
	}
}

// What waits in the socket goes with it: the pipe has no reader left once the descriptors in flight are gone.
func TestDescriptorsThatWaitAreGivenUp(t *testing.T) {
	ours, f, err := Pair()
	require.NoError(t, err)
	in, err := fromFile(f)
	require.NoError(t, err)
	defer in.Close()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	fd := int(r.Fd())
	for i := range 60 {
		require.NoError(t, in.Send(Message{Kind: Dialed, ID: uint32(i)}, fd, fd, fd, fd))
	}
	r.Close()
	_, err = w.WriteString("x")
	require.NoError(t, err, "the control: they are in flight")
	h := NewHandoff(ours)
	<-h.Done()
	_, err = w.WriteString("x")
	require.ErrorIs(t, err, unix.EPIPE)
}

func TestOrdersAreBoundedAndStrict(t *testing.T) {
	for name, c := range map[string]struct{ data, says string }{
		"a wall that is not known": {`{"argv":["/bin/true"],"walls":{"moat":true}}`, "unknown field"},
		"cut off":                  {`{"argv":["/bin/tr`, "unexpected EOF"},
		"too long":                 {`{"argv":["` + strings.Repeat("x", MaxOrder) + `"]}`, "longer than"},
		"fine":                     {`{"argv":["/bin/true"],"landlock":{"refuse_links":true,"links":["/tmp"]},"terminal":{"rows":2,"cols":3}}`, ""},
	} {
		f, err := os.CreateTemp(t.TempDir(), "order")
		require.NoError(t, err)
		defer f.Close()
		_, err = f.WriteString(c.data)
		require.NoError(t, err)
		o, err := ReadOrder(f)
		if c.says != "" {
			require.ErrorContains(t, err, c.says, name)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, Order{Argv: []string{"/bin/true"}, Landlock: &Landlock{RefuseLinks: true, Links: []string{"/tmp"}}, Terminal: &Terminal{2, 3}}, o)
	}
}

func TestResize(t *testing.T) {
	h, in := pair(t)
	hello(t, in)
	require.NoError(t, h.Resize(24, 80))
	m, _, err := in.Receive()
	require.NoError(t, err)
	assert.Equal(t, Message{Kind: Resize, Rows: 24, Cols: 80}, m)
}
