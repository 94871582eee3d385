package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// How long Close waits for connections and for listeners to end. A listener
// whose descriptor somebody else holds can hang in Close, and stopping a
// kernel must not wait for that.
const (
	closeWait    = 5 * time.Second
	listenerWait = 200 * time.Millisecond
)

// ErrClosed is what a closed Proxy gives to Serve, and the cause with which
// its connections end.
var ErrClosed = errors.New("egress proxy closed")

// Resolver looks names up; *net.Resolver is one. Names come with a final dot.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Proxy is an HTTP proxy that lets through what its rules allow. Fields are
// set before Serve and not changed afterwards.
type Proxy struct {
	// Rules gives the policy; it is called for every tunnel and every
	// request. An error, nil rules and a nil function all deny.
	Rules func() (*Rules, error)
	// Resolver nil is Go's own resolver, in a program with cgo as in one
	// without and whatever GODEBUG says. Its answers serve for two seconds.
	// The C library's, which net.DefaultResolver may be, gets no number to read
	// as an address either, but finds no name of /etc/hosts by its final dot.
	Resolver Resolver
	// Dial nil is a net.Dialer that screens the address once more in its
	// control hook. Another function is given ADDRESS:PORT of what has been
	// screened or is a pin, network "tcp4" or "tcp6".
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Credentials, if set, gives the headers that are added for hosts. It is
	// called for every plain request, and TLS is what their hosts are spoken
	// to with; nil is the system's.
	Credentials func() []Credential
	TLS         *tls.Config
	// Upstream, if set, gives the proxy in front that a target is reached
	// through, an http:// or https:// URL, or nil for none. Pinned hosts and
	// those with an inward exception are never asked for. The addresses of a
	// name are still looked up and screened where that is possible, but which
	// one is dialled is then the choice of that proxy: Event.Via names it. It
	// is dialled with a net.Dialer, and spoken to with TLS where its URL is
	// https://.
	Upstream func(Target) (*url.URL, error)
	// Secret, if set, must come with every request: whoever does not know it
	// learns nothing but that. For a loopback that other programs share.
	Secret string
	// Remedy, if set, gives the line that would allow what the event tells was
	// refused by policy, empty for none. It stands in the body of the answer;
	// the client waits for it.
	Remedy func(Event) string
	// Event, if set, is told of every tunnel and request, from several
	// goroutines at once. It must not block.
	Event  func(Event)
	Bounds Bounds // the zero value is the default of each

	names     answers
	lookout   lookout
	patrol    patrol
	mu        sync.Mutex
	ctx       context.Context
	cancel    context.CancelCauseFunc
	listeners map[net.Listener]struct{}
	clients   map[*client]struct{}
	wg        sync.WaitGroup // connections
	jobs      chan *client   // for workers that rest
	idle      atomic.Int32   // of these
	reviews   atomic.Int64   // that have begun
}

// untilClose is the parent of everything that a Proxy does: Close ends it,
// and nothing else.
type untilClose struct{}

func (untilClose) Deadline() (time.Time, bool) { return time.Time{}, false }
func (untilClose) Done() <-chan struct{}       { return nil }
func (untilClose) Err() error                  { return nil }
func (untilClose) Value(any) any               { return nil }

// life gives the context of the proxy; p.mu is held.
func (p *Proxy) life() context.Context {
	if p.ctx == nil {
		p.ctx, p.cancel = context.WithCancelCause(untilClose{})
		p.listeners = map[net.Listener]struct{}{}
		p.clients = map[*client]struct{}{}
		p.jobs = make(chan *client)
	}
	return p.ctx
}

// Serve accepts connections on l until Close, then returns nil; a listener
// that fails is an error, and a proxy that was closed before is ErrClosed.
// Serve closes l. It may run on several listeners.
func (p *Proxy) Serve(l net.Listener) error {
	ctx, err := p.adopt(l)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- p.accept(ctx, l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done(): // an Accept that hangs keeps its goroutine, not Serve
		return nil
	}
}

func (p *Proxy) adopt(l net.Listener) (context.Context, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx := p.life()
	if ctx.Err() != nil {
		go l.Close()
		return nil, ErrClosed
	}
	p.listeners[l] = struct{}{}
	return ctx, nil
}

func (p *Proxy) accept(ctx context.Context, l net.Listener) error {
	defer p.release(l)
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case err == nil:
			p.admit(ctx, conn)
		case !passing(err):
			return fmt.Errorf("accept on %s: %w", l.Addr(), err)
		default:
			pause(ctx, 50*time.Millisecond)
		}
	}
}

func (p *Proxy) release(l net.Listener) {
	l.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.listeners, l)
}

// passing is true for errors of Accept that end by themselves.
func passing(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED)
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Close ends every connection with ErrClosed as its cause and waits until
// they are gone, but for no more than five seconds; then it is an error.
// Listeners are closed too; one that hangs is not waited for. A closed Proxy
// serves no more.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.life()
	p.cancel(ErrClosed)
	var closing sync.WaitGroup
	for l := range p.listeners {
		closing.Go(func() { l.Close() })
	}
	for c := range p.clients {
		c.stop(ErrClosed)
	}
	p.mu.Unlock()

	within(listenerWait, &closing)
	if !within(closeWait, &p.wg) {
		return fmt.Errorf("egress proxy: connections still open %s after close", closeWait)
	}
	return nil
}

// within waits for wg, but no longer than d, and says whether it is done.
func within(d time.Duration, wg *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
