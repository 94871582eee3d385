package link

import (
	"context"
	"errors"
	"net"
)

// Link is how the launcher acts inside a sandbox. Nothing in it needs descriptors to cross: a relay over one stream of bytes can keep it as well.
type Link interface {
	// Listen returns a listener on 127.0.0.1:port inside.
	Listen(ctx context.Context, port int) (net.Listener, error)
	// Dial connects to 127.0.0.1:port inside. It is held until something listens there, ctx ends, or the link does.
	Dial(ctx context.Context, port int) (net.Conn, error)
	// Signal sends a signal to the program's process group, or what a key sends to the job in the foreground of its terminal. SIGINT that the inside has just been hit by itself is dropped: the program was, too.
	Signal(number int) error
}

// ErrClosed is the cause when the other side of the link has gone.
var ErrClosed = errors.New("the sandbox has ended")

// Exit is how the program inside ended. Exactly one of the three is said.
type Exit struct {
	Status int          // its exit status
	Signal int          // the signal that ended it, or 0
	Failed *FailedError // it could not be started
}

// FailedError says at which stage a start inside failed: "order", "islands", "files", "folder", "terminal", "landlock", "limits" or "exec".
type FailedError struct {
	Stage  string
	Text   string
	Status int // 126 or 127 as a shell would say, 125 for the rest
}

func (e *FailedError) Error() string { return e.Text }
