package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/kernel-launch/kernel-launch/jupyter"
)

// State is what a launcher knows of its kernel. It carries bytes and does not know busy from idle: who needs to know asks the kernel.
type State string

const (
	Starting   State = "starting"
	Running    State = "running"
	Restarting State = "restarting"
)

// stopGrace is how long a kernel may take to end after SIGTERM. jupyter_client kills 2.5 s after its own; a kernel without a client gets longer.
const stopGrace = 5 * time.Second

// restartGrace is shorter: who restarts wants the old state gone.
const restartGrace = time.Second

// Kernel is a running kernel. All methods can be called from any goroutine.
type Kernel struct {
	id      string
	started time.Time
	bridge  *bridge // nil where the kernel binds its own ports
	ports   *ports
	claimed *record // its id is taken; record is the same once others can find it
	record  *record
	outlet  outlet
	out     *output
	err     *output
	stdout  io.Writer // what the program writes: out and err, or their destinations as they are
	stderr  io.Writer
	tail    *tail
	release []func()        // undone in reverse when the kernel has ended
	context context.Context // carries the values of the context that started it, and no end
	done    chan struct{}

	mu       sync.Mutex
	spec     Spec
	plan     *Plan
	life     *life
	state    State
	stopping bool
	finished bool
	exit     Exit
	busy     sync.Mutex   // one restart at a time
	noted    func() notes // what stood in its folders before it was started
}

// ID is short, unique among this user's running kernels, and what `kernel list` shows.
func (k *Kernel) ID() string { return k.id }

// Plan is what the kernel was started by.
func (k *Kernel) Plan() *Plan {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.plan
}

// Connection is where a client reaches the kernel.
func (k *Kernel) Connection() *jupyter.Connection { return k.Plan().Connection }

// State is starting, running or restarting.
func (k *Kernel) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

// Done is closed when the kernel has ended and everything that belonged to it is gone.
func (k *Kernel) Done() <-chan struct{} { return k.done }

// Wait waits until the kernel has ended.
func (k *Kernel) Wait() Exit {
	<-k.done
	return k.exit
}

// Signal sends a signal to the kernel's process group. A signal that comes before the kernel's program runs is dropped: most would end it.
func (k *Kernel) Signal(sig syscall.Signal) error {
	k.mu.Lock()
	l := k.life
	k.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.link.Signal(int(sig))
}

// Interrupt stops what the kernel computes.
func (k *Kernel) Interrupt() error { return k.Signal(syscall.SIGINT) }

// Stop asks the kernel to end with SIGTERM, and ends it after five seconds or when ctx does.
func (k *Kernel) Stop(ctx context.Context) Exit {
	return k.stop(ctx.Done(), syscall.SIGTERM, stopGrace)
}

// Terminate passes a signal that asks for the end on, and otherwise is Stop.
func (k *Kernel) Terminate(ctx context.Context, sig syscall.Signal) Exit {
	return k.stop(ctx.Done(), sig, stopGrace)
}

// Kill ends the kernel and everything in its sandbox at once.
func (k *Kernel) Kill() Exit { return k.stop(nil, 0, 0) }

func (k *Kernel) stop(cut <-chan struct{}, sig syscall.Signal, grace time.Duration) Exit {
	k.mu.Lock()
	k.stopping = true
	l := k.life
	k.mu.Unlock()
	if l != nil {
		terminate(cut, l, sig, grace)
	}
	return k.Wait()
}

// terminate ends one life: asked first, when there is a grace, then killed.
func terminate(cut <-chan struct{}, l *life, sig syscall.Signal, grace time.Duration) {
	if grace > 0 {
		l.link.Signal(int(sig))
		limit := time.NewTimer(grace)
		defer limit.Stop()
		select {
		case <-l.done:
		case <-limit.C:
		case <-cut:
		}
	}
	l.end()
}

// ErrEnded is returned when a kernel that has ended is asked for something.
var ErrEnded = errors.New("the kernel has ended")

// Restart gives the kernel a fresh process in a fresh sandbox on the same ports, by the policy and the environment as they are now. When the new one
// cannot be started the kernel has ended.
func (k *Kernel) Restart(ctx context.Context) error {
	k.busy.Lock()
	defer k.busy.Unlock()
	k.mu.Lock()
	l, spec := k.life, k.spec
	if k.stopping || l == nil {
		k.mu.Unlock()
		return ErrEnded
	}
	k.state = Restarting
	k.mu.Unlock()
	spec.connection = k.Connection()
	plan, err := spec.Plan()
	if err != nil { // the old one goes on
		k.setState(Running)
		select {
		case <-l.done: // it ended meanwhile, and nobody took that for the kernel's end
			k.ended(l)
		default:
		}
		return fmt.Errorf("the kernel was not restarted: %w", err)
	}
	k.record.update(Restarting, plan)
	terminate(ctx.Done(), l, syscall.SIGTERM, restartGrace)
	k.noteMore(plan)
	k.mu.Lock()
	k.plan = plan
	k.mu.Unlock()
	if err := k.live(ctx, nil); err != nil {
		k.finish(Exit{Reason: ReasonFailed, Code: statusCannotLaunch, Err: err})
		return fmt.Errorf("the kernel could not be started again: %w", err)
	}
	k.record.update(Running, plan)
	return nil
}

func (k *Kernel) setState(s State) {
	k.mu.Lock()
	k.state = s
	plan := k.plan
	k.mu.Unlock()
	k.record.update(s, plan)
}

// ended is called once for every life. Unless a restart is under way, or has put another life in its place, the kernel ends with it.
func (k *Kernel) ended(l *life) {
	k.mu.Lock()
	current, restarting, stopping := k.life == l, k.state == Restarting, k.stopping
	k.mu.Unlock()
	if !current || restarting && !stopping {
		return
	}
	exit := l.exit
	if stopping && exit.Reason != ReasonExited {
		exit.Reason, exit.Limit = ReasonStopped, nil
	}
	k.finish(exit)
}

// finish takes everything down, newest first. Only the first call counts.
func (k *Kernel) finish(exit Exit) {
	k.mu.Lock()
	if k.finished {
		k.mu.Unlock()
		return
	}
	k.finished, k.life = true, nil
	r := k.record
	k.mu.Unlock()
	k.out.Close()
	k.err.Close()
	exit.Output, exit.Notes = k.tail.String(), k.reports()
	if r != nil { // before the record goes: at any moment one of them is there
		endedOf(r.present(), exit).keep(k.Plan().host.dirs)
	}
	k.undo()
	k.exit = exit
	close(k.done)
}
