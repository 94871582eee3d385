package launcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// statusCannotLaunch is the exit status of a launcher whose kernel never ran.
const statusCannotLaunch = 125

// oomScore is added to the kernel's: when memory runs out on the machine, the notebook goes before the server that shows why.
const oomScore = 200

// Launch plans and starts a kernel. It returns once the kernel's program runs; the client's ports answer from the beginning.
// ctx bounds the start alone: the kernel lives until it ends, Stop, Kill, or the end of this process.
func Launch(ctx context.Context, s Spec) (*Kernel, error) {
	p, err := s.Plan()
	if err != nil {
		return nil, err
	}
	return Start(ctx, p)
}

// Start carries a plan out. When it fails, everything that it did is undone.
func Start(ctx context.Context, p *Plan) (*Kernel, error) {
	k := &Kernel{
		spec: p.spec, plan: p, state: Starting, started: time.Now(), tail: newTail(4 << 10),
		context: context.WithoutCancel(ctx), done: make(chan struct{}),
	}
	k.connect(p.spec)
	k.ports = newPorts(k.context, k.say, k.outlet.record)
	k.noted = sync.OnceValue(func() notes { return noteAll(p, nil) })
	go k.noted()
	if err := k.begin(ctx); err != nil {
		k.undo()
		return nil, err
	}
	return k, nil
}

func (k *Kernel) undo() {
	k.out.Close()
	k.err.Close()
	k.ports.close() // before what is recorded of the connections has nowhere to go
	for _, f := range slices.Backward(k.release) {
		f()
	}
	k.release = nil
}

func (k *Kernel) begin(ctx context.Context) error {
	if err := k.live(ctx, func() error { return k.receive(ctx) }); err != nil {
		return err
	}
	p := k.Plan()
	if p.Connection == nil {
		return nil // a command, not a kernel: nobody looks for it
	}
	if err := k.enlist(); err != nil {
		k.Kill()
		return err
	}
	go sweep(p.host.dirs)
	go k.lint(p.Sandbox)
	return nil
}

// receive opens what a client meets before there is a kernel. It is done while the sandbox is being made, which takes longer: nothing in there needs it yet,
// and a client that comes first is held either way.
func (k *Kernel) receive(ctx context.Context) error {
	p := k.Plan()
	if err := k.identify(); err != nil {
		return err
	}
	if p.Connection != nil && p.Sandbox.Network != sandbox.NetworkHost {
		b, err := listen(ctx, p.Connection)
		if err != nil {
			return err
		}
		k.bridge = b
		k.release = append(k.release, b.close)
		b.serve()
	} else if c := p.Connection; c != nil {
		if err := choosePorts(&c.Shell, &c.IOPub, &c.Stdin, &c.Control, &c.HB); err != nil {
			return err
		}
	}
	return errors.Join(p.checkPorts()...) // again: the kernel's own ports are chosen now
}

// lint warns of what the folders that are shown hold deep inside. A start does not wait for that.
func (k *Kernel) lint(p *sandbox.Plan) {
	ctx, stop := context.WithCancel(k.context)
	defer stop()
	go func() {
		select {
		case <-k.done:
			stop()
		case <-ctx.Done():
		}
	}()
	sandbox.Lint(ctx, p, k.say)
}

// say tells the user something of the launcher's own, where the kernel's standard error goes.
func (k *Kernel) say(text string) { k.err.say(text) }

// enlist puts the kernel where others find it, unless it has ended meanwhile: nothing would take it off again.
func (k *Kernel) enlist() error {
	r, err := register(k)
	if err != nil {
		return err
	}
	k.mu.Lock()
	over := k.finished
	if !over {
		k.record = r
		k.release = append(k.release, r.remove)
	}
	k.mu.Unlock()
	if over {
		r.remove()
	}
	return nil
}

// replans is how often a start follows an environment that moves on between the plan and its lock.
const replans = 5

// hold keeps the planned generation in place. When that has gone since the plan was made, the plan is made again: the present one holds now.
func (k *Kernel) hold() (p *Plan, release func() error, err error) {
	for range replans {
		p = k.Plan()
		release, err = p.Environment.Hold()
		if !errors.As(err, new(*envs.NotFoundError)) {
			return p, release, err
		}
		spec := p.spec
		spec.connection = p.Connection
		again, err := spec.Plan()
		if err != nil {
			return nil, nil, err
		}
		k.mu.Lock()
		k.plan = again
		k.mu.Unlock()
	}
	return nil, nil, err
}

// live starts one life by the present plan. What meanwhile does has time until the sandbox is made; nil is nothing.
func (k *Kernel) live(ctx context.Context, meanwhile func() error) error {
	p, release, err := k.hold()
	if err != nil {
		return err
	}
	if err := dirs.MakePrivate(p.KeptHome); err != nil {
		release()
		return fmt.Errorf("the folder for what the kernel keeps: %w", err)
	}
	lifetime, cut := context.WithCancelCause(k.context)
	l, err := bear(ctx, birth{
		backend: sandbox.Default(), plan: p.Sandbox, lifetime: lifetime,
		stdin: p.spec.Stdin, stdout: k.stdout, stderr: k.stderr, patient: p.spec.Raw, meanwhile: meanwhile,
	})
	if err == nil {
		if err = k.equip(ctx, lifetime, l, p); err != nil {
			l.end()
		}
	}
	if err != nil {
		cut(err)
		release()
		return err
	}
	k.mu.Lock()
	stopping := k.stopping // asked for during a restart, when there was no life to end
	if !k.finished {
		k.life, k.state = l, Running
	}
	k.mu.Unlock()
	go func() {
		<-l.done
		cut(ErrEnded)
		release()
		k.ended(l)
	}()
	if stopping {
		l.end()
		return ErrEnded
	}
	return nil
}

// equip gives a fresh sandbox its way out, its program and its clients, in this order.
func (k *Kernel) equip(ctx, lifetime context.Context, l *life, p *Plan) error {
	served := func() error { return nil }
	switch p.Sandbox.Network {
	case sandbox.NetworkAllowlist:
		served = k.letOut(ctx, lifetime, l, p)
	case sandbox.NetworkNone:
		k.track(nil, k.auditOf(p)) // of its ports, one of which may be opened later
		k.watch(lifetime, rulesOf(p, k.say))
	}
	if err := k.ports.begin(ctx, lifetime, l.link, p); err != nil {
		return err
	}
	order := orderFor(p.Sandbox, l.process)
	order.Argv, order.Env, order.Dir = p.Command, p.Sandbox.Environment, p.Sandbox.Dir
	if p.Connection != nil {
		data, err := p.inside()
		if err != nil {
			return err
		}
		order.Files = []link.File{{Path: privateConnection, Mode: 0o600, Data: data}}
	}
	order.Files = append(order.Files, p.authorities.files...)
	k.notes()
	order.Terminal = p.spec.Terminal.order()
	err := l.link.Start(ctx, order)
	if out := served(); err == nil {
		err = out
	}
	if err != nil {
		var failed *link.FailedError
		if errors.As(err, &failed) {
			return &ProgramError{Command: p.Command[0], Stage: failed.Stage, Status: failed.Status, Problem: failed.Text}
		}
		return err
	}
	if k.bridge != nil {
		k.bridge.attach(l.link, lifetime)
	}
	k.ports.here.attach(l.link, lifetime)
	return nil
}

// ProgramError is a program that could not be started inside a sandbox that could.
type ProgramError struct {
	Command string
	Stage   string // as link.FailedError has it
	Status  int    // 125, 126 (cannot be run) or 127 (not found)
	Problem string
}

func (e *ProgramError) Error() string {
	return fmt.Sprintf("%s could not be started inside the sandbox: %s", e.Command, e.Problem)
}

// letOut serves the egress proxy on the sandbox's own loopback. The port is asked for before the program is, and the answer is taken while that starts:
// served returns then. Whoever connects before waits in the listener.
func (k *Kernel) letOut(ctx, lifetime context.Context, l *life, p *Plan) (served func() error) {
	listening := l.link.Listening(p.egressAt())
	rules := rulesOf(p, k.say)
	proxy := &egress.Proxy{Rules: rules.current, Event: k.denials(), Bounds: p.bounds}
	rules.review = proxy.Review
	k.furnish(proxy, rules, p)
	context.AfterFunc(lifetime, func() { proxy.Close() })
	k.watch(lifetime, rules)
	done := make(chan error, 1)
	go func() {
		listener, err := listening(ctx)
		if err != nil {
			done <- fmt.Errorf("the egress proxy: %w", err)
			return
		}
		done <- nil
		proxy.Serve(listener)
	}()
	return func() error { return <-done }
}

// denials tells the user, once for each host, and for each reason where there is none, what was refused and which line would allow it.
func (k *Kernel) denials() func(egress.Event) {
	told := newSet(256)
	return func(e egress.Event) {
		if e.Verdict != egress.Deny || !told.add(cmp.Or(e.Host, e.Code)) {
			return
		}
		text := fmt.Sprintf("refused %s (%s)", cmp.Or(e.Where(), "a request that names no host"), e.Code)
		switch line, ceiling := k.Plan().way(e); {
		case line != "":
			text += "; to allow it: " + line
		case ceiling != "":
			text += "; the machine does not let it be allowed: " + ceiling
		}
		k.say(text)
	}
}
