package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// life is one sandbox from its start to its end. A kernel that is restarted in place has several, one after the other.
type life struct {
	process sandbox.Process
	link    inside
	pumps   sync.WaitGroup // copies of its standard output and error
	pipes   []*os.File
	patient bool          // what was written is passed on however long that takes
	cut     chan struct{} // closed by end, which waits for no reader
	once    sync.Once
	done    chan struct{}
	exit    Exit // read after done
}

// inside is the other end of a link, as far as the launcher uses it.
type inside interface {
	link.Link
	Listening(port int) func(context.Context) (net.Listener, error)
	Start(context.Context, link.Order) error
	Done() <-chan struct{}
	Exit() (*link.Exit, error)
	Resize(rows, cols uint16) error
	Close() error
}

// birth is what a life starts from.
type birth struct {
	backend        sandbox.Backend
	plan           *sandbox.Plan
	lifetime       context.Context // its end ends the sandbox
	stdin          io.Reader       // nil: there is nothing to read
	stdout, stderr io.Writer
	patient        bool
	meanwhile      func() error // what there is time for while the sandbox is being made; its error ends it
}

// helloTime is how long a sandbox may take to be made. It takes 10 ms; a machine under heavy load has been seen to need seconds.
const helloTime = 30 * time.Second

// pump makes a pipe whose content goes to w, and returns the end to be inherited.
func (l *life) pump(w io.Writer) (*os.File, error) {
	r, inherited, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for the kernel's output: %w", err)
	}
	l.pipes = append(l.pipes, r)
	l.pumps.Add(1)
	go func() {
		defer l.pumps.Done()
		io.Copy(w, struct{ io.Reader }{r})
		r.Close() // where nobody reads any more, whoever writes inside is told, as in any pipeline
	}()
	return inherited, nil
}

func (l *life) closePipes() {
	for _, r := range l.pipes {
		r.Close()
	}
}

// drainTime is how long the last output may take after the sandbox has gone. Nothing writes any more then.
const drainTime = time.Second

// watch ends the life when the inside has gone, however it went.
func (l *life) watch() {
	<-l.link.Done()
	l.process.Kill()
	l.process.Wait()
	drained := make(chan struct{})
	go func() { l.pumps.Wait(); close(drained) }()
	var limit <-chan time.Time
	if !l.patient {
		limit = time.After(drainTime)
	}
	select {
	case <-drained:
	case <-limit:
	case <-l.cut:
	}
	l.closePipes()
	if !l.patient {
		<-drained
	}
	l.exit = exitOf(l.link.Exit()).withLimit(l.process.Hit())
	close(l.done)
}

// end kills everything in the sandbox and waits until it is gone.
func (l *life) end() {
	l.once.Do(func() { close(l.cut) })
	l.process.Kill()
	l.link.Close()
	<-l.done
}

func exitOf(e *link.Exit, err error) Exit {
	var broken *link.ProtocolError
	switch {
	case e != nil && e.Failed != nil:
		return Exit{Reason: ReasonFailed, Code: e.Failed.Status, Err: e.Failed}
	case e != nil && e.Signal != 0:
		return Exit{Reason: ReasonSignal, Signal: e.Signal, Code: 128 + e.Signal}
	case e != nil:
		return Exit{Reason: ReasonExited, Code: e.Status}
	case errors.As(err, &broken):
		return Exit{Reason: ReasonBroken, Code: 128 + 9, Signal: 9, Err: broken}
	}
	return Exit{Reason: ReasonKilled, Signal: 9, Code: 128 + 9}
}
