package launcher

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
)

// silent is a link at whose ports nothing listens.
type silent struct{ echo }

func (silent) Dial(ctx context.Context, _ int) (net.Conn, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// answering is a link whose every port is one that sends back what it gets, and can be half closed.
type answering struct {
	silent
	address string
}

func (a answering) Dial(ctx context.Context, _ int) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp4", a.address)
}

func newAnswering(t *testing.T) answering {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	return answering{address: l.Addr().String()}
}

// shown is port 8050 of a kernel, on the host.
type shown struct {
	*ports
	address string
	events  chan egress.Event
	end     context.CancelFunc
}

func newShown(t *testing.T, change func(*ports, *opening)) *shown {
	t.Helper()
	s := &shown{events: make(chan egress.Event, 16)}
	s.ports = newPorts(t.Context(), func(string) {}, func(e egress.Event) { s.events <- e })
	t.Cleanup(s.close)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	s.address = l.Addr().String()
	o := newOpening(s.kernel, Port{Published, 8050, "127.0.0.1", uint16(l.Addr().(*net.TCPAddr).Port)}, l)
	change(s.ports, o)
	s.keep(o)
	return s
}

func (s *shown) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp4", s.address)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(30 * time.Second))
	return c
}

// requireClosed is an end that is seen, not a time that has run out.
func requireClosed(t *testing.T, c net.Conn) {
	t.Helper()
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err)
	require.False(t, os.IsTimeout(err))
}

func TestAPublishedPortAtWhichNothingListens(t *testing.T) {
	s := newShown(t, func(p *ports, _ *opening) { p.patience = 20 * time.Millisecond })
	requireClosed(t, s.dial(t)) // there is no sandbox
	s.here.attach(silent{}, t.Context())
	requireClosed(t, s.dial(t))
	for range 2 {
		e := <-s.events
		assert.Equal(t, []any{"PUBLISH", "127.0.0.1", egress.CodeDialFailed, egress.EndFailed}, []any{e.Method, e.Host, e.Code, e.End})
	}
}

func TestOneOpeningTakesOnlySoManyConnections(t *testing.T) {
	s := newShown(t, func(_ *ports, o *opening) { o.slots = make(chan struct{}, 2) })
	s.here.attach(echo{make(chan int, 8)}, t.Context())
	for range 2 {
		c := s.dial(t)
		c.Write([]byte("x"))
		_, err := c.Read(make([]byte, 1))
		require.NoError(t, err)
	}
	assert.Equal(t, 2, *s.list(Published)[0].Connections)
	requireClosed(t, s.dial(t))
	e := <-s.events
	assert.Equal(t, []any{egress.Deny, egress.CodeTooManyConnection, egress.EndRefused}, []any{e.Verdict, e.Code, e.End})
}

func TestWaitingClientsLeaveTheChannelsRoom(t *testing.T) {
	s := newShown(t, func(p *ports, _ *opening) { p.waiting, p.patience = make(chan struct{}, 1), time.Minute })
	s.here.attach(silent{}, t.Context())
	s.dial(t)
	require.Eventually(t, func() bool { return len(s.waiting) == 1 }, time.Minute, time.Millisecond)
	if second, err := net.Dial("tcp4", s.address); err == nil { // else the reset has been faster than the answer
		defer second.Close()
		second.SetDeadline(time.Now().Add(30 * time.Second))
		requireClosed(t, second)
	}
	e := <-s.events
	assert.Equal(t, []any{egress.CodeDialFailed, egress.EndFailed}, []any{e.Code, e.End})
	assert.Len(t, s.waiting, 1, "the first waits on")
}

func TestWhatIsRecordedOfAConnection(t *testing.T) {
	for _, c := range []struct {
		end  func(s *shown, client net.Conn)
		want string
	}{
		{func(_ *shown, client net.Conn) { client.Close() }, egress.EndClosed},
		{func(_ *shown, client net.Conn) { reset(client) }, egress.EndClient},
		{func(s *shown, _ net.Conn) { s.drop(func(*opening) bool { return true }) }, egress.EndStopped},
		{func(s *shown, _ net.Conn) { s.end() }, egress.EndStopped},
	} {
		s := newShown(t, func(*ports, *opening) {})
		life, end := context.WithCancel(t.Context())
		s.end = end
		s.here.attach(newAnswering(t), life)
		client := s.dial(t)
		client.Write([]byte("four"))
		_, err := client.Read(make([]byte, 4))
		require.NoError(t, err)
		c.end(s, client)
		e := <-s.events
		assert.Equal(t, egress.Event{
			Time: e.Time, Dial: e.Dial, Method: "PUBLISH", Host: "127.0.0.1", Port: s.portNumber(), Verdict: egress.Allow, Code: egress.CodeAllowed,
			Rule: e.Rule, Sent: 4, Received: 4, End: c.want,
		}, e)
		assert.Contains(t, e.Rule, "publish ")
		end()
	}
}

func (s *shown) portNumber() uint16 {
	a, err := net.ResolveTCPAddr("tcp4", s.address)
	if err != nil {
		return 0
	}
	return uint16(a.Port)
}

func TestRequestsAreReadStrictly(t *testing.T) {
	for line, want := range map[string]string{
		`{"operation":"status"}`:                              "",
		`{"operation":"forward","port":"5432:db.lab.test:1"}`: "",
		`{"operation":"publish","port":"8050","off":true}`:    "",
		`{"operation":"forward","port":"1","only_for":"10s"}`: "unknown field",
		`{"operation":"restart","port":"1"}`:                  "takes no port",
		`{"operation":"stop","off":true}`:                     "takes no port",
		`{"operation":"forward","port":5432}`:                 "cannot be read",
		`{"operation":"status"} {"operation":"stop"}`:         "something follows it",
		`stop`: "cannot be read",
	} {
		_, err := readRequest([]byte(line + "\n"))
		if want == "" {
			assert.NoError(t, err, line)
		} else {
			assert.ErrorContains(t, err, want, line)
		}
	}
}

func TestParsePortSaysWhatIsWrong(t *testing.T) {
	for way, text := range map[Way]string{Forwarded: "db:5432", Published: "0.0.0.0:80", "sideways": "80"} {
		_, err := ParsePort(way, text)
		var fault *PortError
		require.ErrorAs(t, err, &fault)
		assert.Equal(t, CauseText, fault.Cause)
		assert.Contains(t, err.Error(), text)
	}
}

func TestAPortThatThisUserMayNotHaveIsNotTaken(t *testing.T) {
	p := Port{Way: Published, Port: 8080, Host: "127.0.0.1", HostPort: 80}
	refused := func(errno syscall.Errno) error {
		return &net.OpError{Op: "listen", Net: "tcp4", Err: os.NewSyscallError("bind", errno)}
	}
	fault := p.hostFault(refused(syscall.EACCES))
	assert.Equal(t, CauseLow, fault.Cause)
	assert.Equal(t, "port 80 of this machine cannot be had: bind: permission denied", fault.Problem)
	assert.Equal(t, CauseTaken, p.hostFault(refused(syscall.EADDRINUSE)).Cause)
}

func TestWhyAServiceIsNotReached(t *testing.T) {
	over, end := context.WithCancel(t.Context())
	end()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, c := range []struct {
		life      context.Context
		err       error
		code, end string
	}{
		{t.Context(), dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), egress.CodeDialFailed, egress.EndFailed},
		{t.Context(), dial(os.ErrDeadlineExceeded), egress.CodeDialTimeout, egress.EndFailed},
		{t.Context(), dial(&net.DNSError{Err: "no such host", IsNotFound: true}), egress.CodeNoAddress, egress.EndFailed},
		{t.Context(), dial(&net.DNSError{Err: "i/o timeout", IsTimeout: true}), egress.CodeLookupTimeout, egress.EndFailed},
		{t.Context(), dial(&net.DNSError{Err: "server misbehaving"}), egress.CodeLookupFailed, egress.EndFailed},
		{t.Context(), errNobody, egress.CodeDialFailed, egress.EndFailed},
		{over, dial(context.Canceled), egress.CodeStopped, egress.EndStopped},
	} {
		code, how := unreached(c.life, c.err)
		assert.Equal(t, []string{c.code, c.end}, []string{code, how}, "%v", c.err)
	}
}
