package sandbox

import (
	"context"
	"os"
)

// Backend is one way to build the walls.
type Backend interface {
	Name() string
	// Plan decides without starting anything. Every fault of the policy is reported at once.
	Plan(Policy) (*Plan, error)
	// Probe runs a real, minimal sandbox. Its error is an *UnavailableError.
	Probe(context.Context) error
	// Start runs the command behind the plan's walls. When the context ends, the sandbox is killed. When this program is
	// killed, the sandbox ends too, except in the milliseconds in which the walls are built: a command that must not
	// outlive it then watches one of its Files for the end that only this program holds.
	Start(context.Context, *Plan, Command) (Process, error)
}

// Command is what runs as process 1 inside. A descriptor that this program itself inherited without close-on-exec would
// be passed on by the system: a launcher sets the flag on all of them (close_range) before it starts anything.
type Command struct {
	Argv           []string   // Argv[0] is absolute inside
	Files          []*os.File // become descriptors 3, 4, … inside; they stay the caller's to close
	Stdin          *os.File   // nil is /dev/null; never a terminal of the caller's
	Stdout, Stderr *os.File   // nil is /dev/null

	// EndsItself says that the command ends by itself when whoever holds the other end of Files has gone, and passes on no descriptor that it inherits.
	// Then bubblewrap is not told to die with its parent: killed between its fork and its go-ahead to the child, it would leave that child waiting for ever.
	EndsItself bool
}

// Process is a running sandbox. All methods may be called from several goroutines.
type Process interface {
	// Pid is the host's number of process 1 inside, -1 until it is known.
	Pid() int
	// Kill ends everything inside, whatever it does. It returns at once; Done says when all is gone.
	Kill() error
	// Wait returns when all is gone: nil for exit status 0, an *exec.ExitError for another one (128 + signal for a signal).
	Wait() error
	Done() <-chan struct{}
	// Islands are the grants and the read-only folders in them, as they were found before they were mounted.
	Islands() []Island
	// Hit says which limit ended the command, or kept it from going on; nil when none is known to have. It may be asked after Done.
	Hit() *LimitHit
}
