package launcher

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// maxWaiting leaves the kernel's channels room among the dials that may wait inside.
const maxWaiting = 256

// ports are the openings of a kernel. Those on the host stay from one life to the next; those inside go with each sandbox.
type ports struct {
	carrier
	kernel context.Context // ends with close
	end    context.CancelFunc

	mu     sync.Mutex
	open   []*opening
	closed bool
}

func newPorts(ctx context.Context, say func(string), event func(egress.Event)) *ports {
	p := &ports{carrier: carrier{here: newCurrent(), event: event, patience: nobodyTime, waiting: make(chan struct{}, maxWaiting)}}
	p.say = func(format string, args ...any) { say(plain.Line(fmt.Sprintf(format, args...), 1000)) }
	p.kernel, p.end = context.WithCancel(ctx)
	return p
}

// begin opens what a life is planned with, before its program runs: nothing inside can take those ports then. A port of this machine that somebody
// else has is an error when a flag asked for it; what a configuration names for every kernel must not keep the second one from starting.
func (p *ports) begin(ctx, lifetime context.Context, l link.Link, plan *Plan) error {
	p.drop(func(o *opening) bool {
		return o.Way == Forwarded || o.problem != "" || !slices.Contains(plan.Ports, o.Port)
	})
	asked := plan.spec.flagged()
	for _, port := range plan.Ports {
		fault := p.add(ctx, lifetime, l, port)
		if fault == nil {
			continue
		}
		if port.Way == Forwarded || slices.Contains(asked, port) {
			return fault
		}
		p.lack(port, fault)
	}
	return nil
}

// lack tells that a port cannot be had, and lists it with the reason.
func (p *ports) lack(port Port, fault *PortError) {
	p.say("%v", fault)
	o := newOpening(p.kernel, port, nil)
	o.problem = fault.Problem
	p.keep(o)
}

// add opens a port, unless it is open.
func (p *ports) add(ctx, lifetime context.Context, l link.Link, port Port) *PortError {
	if p.has(port) {
		return nil
	}
	life := p.kernel
	listen := func() (net.Listener, *PortError) { return listenHost(ctx, port) }
	if port.Way == Forwarded {
		life = lifetime
		listen = func() (net.Listener, *PortError) { return listenInside(ctx, l, port) }
	}
	listener, fault := listen()
	if fault != nil {
		return fault
	}
	p.drop(func(o *opening) bool { return o.Port == port })
	p.keep(newOpening(life, port, listener))
	return nil
}

func listenInside(ctx context.Context, l link.Link, p Port) (net.Listener, *PortError) {
	listener, err := l.Listen(ctx, int(p.Port))
	if err != nil {
		return nil, p.fault(CauseTaken, "port %d cannot be had inside: %v", p.Port, err)
	}
	return listener, nil
}

// keep lists an opening and serves it, unless the kernel has ended meanwhile.
func (p *ports) keep(o *opening) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		o.close()
		return
	}
	p.open = append(p.open, o)
	if o.listener != nil {
		p.serve(o)
	}
}

// drop closes openings, and what is connected through them.
func (p *ports) drop(which func(*opening) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = slices.DeleteFunc(p.open, func(o *opening) bool {
		if which(o) {
			o.close()
			return true
		}
		return false
	})
}

func (p *ports) has(port Port) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.open, func(o *opening) bool { return o.Port == port && o.problem == "" })
}

// list is what is open in one direction, and what should be.
func (p *ports) list(way Way) []OpenPort {
	all := []OpenPort{}
	if p == nil {
		return all
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.open {
		if o.Way == way {
			all = append(all, o.open())
		}
	}
	return all
}

func (p *ports) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.drop(func(*opening) bool { return true })
	p.here.end()
	p.end()
	p.wait.Wait()
}
