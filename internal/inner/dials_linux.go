package inner

import (
	"encoding/binary"
	"fmt"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// dials are the connections that clients wait for: one may come long before the kernel is ready. All of them are asked for in one go, by calls that do not
// wait and that Go is not told of. A client that opens five channels while the kernel starts must not take its processor from it.
type dials struct {
	mu      sync.Mutex
	waiting map[uint32]*dial
	asking  bool          // somebody does
	fresh   chan struct{} // there is a new one
}

type dial struct {
	port, fd   int
	since, due time.Time
}

func newDials() dials { return dials{waiting: map[uint32]*dial{}, fresh: make(chan struct{}, 1)} }

// A kernel is up within the time in which a dial is eager. One that is not costs 20 questions a second.
const (
	eager   = 10 * time.Second
	often   = time.Millisecond
	seldom  = 50 * time.Millisecond
	nothing = "nothing listened there while the client waited"
)

// dial connects to a port of the program and holds on until it listens there.
func (in *inside) dial(m link.Message) {
	fd, err := outgoing()
	if err != nil {
		in.conn.Send(link.Message{Kind: link.Dialed, ID: m.ID, Text: text(err)})
		return
	}
	d, now := &in.dials, time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting[m.ID] = &dial{port: m.Port, fd: fd, since: now, due: now}
	if !d.asking {
		d.asking = true
		go in.ask()
	}
	select {
	case d.fresh <- struct{}{}:
	default:
	}
}

// cancel gives a dial up, which is answered all the same.
func (in *inside) cancel(id uint32) {
	d := &in.dials
	d.mu.Lock()
	w := d.waiting[id]
	delete(d.waiting, id)
	d.mu.Unlock()
	if w != nil {
		unix.Close(w.fd)
		in.conn.Send(link.Message{Kind: link.Dialed, ID: id, Text: nothing})
	}
}

// ask asks for everything that waits until nothing does.
func (in *inside) ask() {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-in.dials.fresh:
		case <-in.ctx.Done():
			return
		}
		answered, wait := in.dials.round(time.Now())
		for id, a := range answered {
			in.tell(id, a)
		}
		if wait == 0 {
			return
		}
		next.Reset(wait)
	}
}

type answer struct {
	*dial
	errno syscall.Errno // 0 when it is connected
}

// round asks for what is due. It takes what was answered out, and says how long the rest may wait: 0 when there is none, and nobody asks any more.
func (d *dials) round(now time.Time) (answered map[uint32]answer, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, w := range d.waiting {
		if left := w.due.Sub(now); left > often { // those that came one after the other are asked for together
			wait = sooner(wait, left)
			continue
		}
		if errno := knock(w.fd, w.port); errno != unix.ECONNREFUSED && errno != unix.EALREADY {
			if answered == nil {
				answered = map[uint32]answer{}
			}
			answered[id] = answer{w, errno}
			delete(d.waiting, id)
			continue
		}
		pause := often
		if now.Sub(w.since) > eager {
			pause = seldom
		}
		if n := len(d.waiting); n > 2 { // each costs some 20 µs, and all together a small part of a processor
			pause = max(pause, often*time.Duration(max(2, n/3)))
		}
		w.due = now.Add(pause)
		wait = sooner(wait, pause)
	}
	d.asking = len(d.waiting) > 0
	return answered, wait
}

func sooner(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func (in *inside) tell(id uint32, a answer) {
	m := link.Message{Kind: link.Dialed, ID: id}
	if a.errno == 0 {
		in.hand(m, a.fd)
		return
	}
	unix.Close(a.fd)
	m.Text = fmt.Sprintf("connect to 127.0.0.1:%d: %v", a.port, a.errno)
	in.conn.Send(m)
}

// outgoing is a socket that connects from 127.0.0.2: from 127.0.0.1 an ephemeral port can be given its own number and connect to itself.
func outgoing() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 2}}); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("bind to 127.0.0.2: %w", err)
	}
	return fd, nil
}

// knock is 0 once the socket is connected. The first call sends the question, and what answers it on a loopback has done so before that call returns; the
// second tells the answer, after a refusal leaves the socket as it was before, and says EALREADY where whoever listens has no room yet.
func knock(fd, port int) syscall.Errno {
	to := unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: [4]byte{127, 0, 0, 1}}
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&to.Port))[:], uint16(port))
	for range 2 {
		_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&to)), unsafe.Sizeof(to))
		if errno != unix.EINPROGRESS && errno != unix.EINTR {
			return errno
		}
	}
	return unix.EALREADY
}
