package inner

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// heldPort is a port that is taken and that nobody listens at until listen is called.
func heldPort(t *testing.T) (port, fd int) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	require.NoError(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	sa, err := unix.Getsockname(fd)
	require.NoError(t, err)
	return sa.(*unix.SockaddrInet4).Port, fd
}

// told is what a socket is told in the end: a machine that is busy may not have answered it yet.
func told(fd, port int) syscall.Errno {
	errno := knock(fd, port)
	for end := time.Now().Add(time.Minute); errno == unix.EALREADY && time.Now().Before(end); errno = knock(fd, port) {
		time.Sleep(time.Millisecond)
	}
	return errno
}

func TestOneSocketAsksUntilSomethingListens(t *testing.T) {
	port, listener := heldPort(t)
	fd, err := outgoing()
	require.NoError(t, err)
	defer unix.Close(fd)
	for range 100 {
		require.Equal(t, unix.ECONNREFUSED, told(fd, port))
	}
	require.NoError(t, unix.Listen(listener, 1))
	require.Zero(t, told(fd, port))
	_, from, err := unix.Accept(listener)
	require.NoError(t, err)
	assert.Equal(t, [4]byte{127, 0, 0, 2}, from.(*unix.SockaddrInet4).Addr)
}

func TestASocketWaitsForRoom(t *testing.T) {
	port, listener := heldPort(t)
	require.NoError(t, unix.Listen(listener, 0))
	fd, err := outgoing()
	require.NoError(t, err)
	defer unix.Close(fd)
	require.Zero(t, told(fd, port), "one finds room")
	second, err := outgoing()
	require.NoError(t, err)
	defer unix.Close(second)
	for range 10 {
		require.Equal(t, unix.EALREADY, knock(second, port))
	}
	for range 2 { // the second accept waits for the question that the kernel asks again
		_, _, err = unix.Accept(listener)
		require.NoError(t, err)
	}
	require.Zero(t, told(second, port))
}

func TestWhatWaitsIsAskedForTogether(t *testing.T) {
	port, listener := heldPort(t)
	d, now := newDials(), time.Now()
	for id := range uint32(5) {
		fd, err := outgoing()
		require.NoError(t, err)
		t.Cleanup(func() { unix.Close(fd) })
		came := now.Add(time.Duration(id) * often / 4)
		d.waiting[id] = &dial{port: port, fd: fd, since: came, due: came}
	}
	rounds := 0
	for end := now.Add(20 * often); now.Before(end); rounds++ {
		answered, wait := d.round(now)
		require.Empty(t, answered)
		now = now.Add(wait)
	}
	assert.LessOrEqual(t, rounds, 15, "about one for every second of 20 moments, whoever came when")
	_, wait := d.round(now.Add(eager + seldom))
	assert.Equal(t, seldom, wait, "what has waited long is asked for less often")

	require.NoError(t, unix.Listen(listener, 5))
	all := 0
	for late := now.Add(2 * eager); all < 5 && late.Before(now.Add(time.Hour)); late = late.Add(seldom) {
		answered, _ := d.round(late)
		for _, a := range answered {
			assert.Zero(t, a.errno)
		}
		all += len(answered)
	}
	assert.Equal(t, 5, all)
	_, wait = d.round(now.Add(2 * time.Hour))
	assert.Zero(t, wait)
	assert.Empty(t, d.waiting)
}

func TestADialThatIsGivenUpIsAnsweredOnce(t *testing.T) {
	port, listener := heldPort(t)
	launcher, theirs, err := link.Pair()
	require.NoError(t, err)
	defer launcher.Close()
	fd, err := unix.Dup(int(theirs.Fd()))
	require.NoError(t, err)
	theirs.Close()
	in := &inside{ctx: t.Context(), dials: newDials()}
	in.conn, err = link.Inherited(fd)
	require.NoError(t, err)
	in.dial(link.Message{ID: 7, Port: port})
	in.cancel(7)
	in.cancel(7)
	m, f, err := launcher.Receive()
	require.NoError(t, err)
	assert.Nil(t, f)
	assert.Equal(t, link.Message{Kind: link.Dialed, ID: 7, Text: nothing}, m)

	require.NoError(t, unix.Listen(listener, 5))
	in.dial(link.Message{ID: 8, Port: port})
	m, f, err = launcher.Receive()
	require.NoError(t, err)
	assert.Equal(t, link.Message{Kind: link.Dialed, ID: 8}, m)
	require.NoError(t, f.Close())
}
