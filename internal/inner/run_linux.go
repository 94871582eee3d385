package inner

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

func exit(status int) { os.Exit(status) }

// inside is the state of pid 1.
type inside struct {
	ctx   context.Context
	self  string // path of this binary, for the stub
	conn  *link.Conn
	score *score

	dials dials

	mu       sync.Mutex
	pid      int       // the program, 0 before it was started
	terminal *terminal // the program's, or nil
	running  bool      // it has been exec'd: signals may go to it
	ended    *syscall.WaitStatus
	hit      time.Time // when SIGINT last came to this process itself
}

// run is pid 1 of a sandbox. It returns the status to exit with, which ends everything else in the sandbox.
func run(ctx context.Context, self string) int {
	if os.Getpid() != 1 {
		fmt.Fprintf(os.Stderr, "%s runs only as the first process of a sandbox\n", Word)
		return exitFailed
	}
	in := &inside{ctx: ctx, self: self, score: openScore(), dials: newDials()}
	err := harden()
	var s signals
	if err == nil {
		s, err = prepare()
	}
	if err == nil {
		in.conn, err = link.Inherited(ControlFD)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, Word+":", err)
		return exitFailed
	}
	go in.watch(s)
	if err := in.conn.Send(link.Message{Kind: link.Hello, Version: link.Version}); err != nil {
		return exitFailed
	}
	link.Prepare()
	return in.serve()
}

// harden keeps the program out of this process (memory, descriptors, environment under /proc/1) and every inherited descriptor out of the program.
func harden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process non-dumpable: %w", err)
	}
	if err := unix.CloseRange(ControlFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return markAll()
	}
	return nil
}

// markAll is close_range for kernels before 5.11.
func markAll() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list open descriptors: %w", err)
	}
	for _, e := range entries {
		var fd int
		if _, err := fmt.Sscan(e.Name(), &fd); err == nil && fd >= ControlFD {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// serve answers the launcher until the control socket breaks, which is the end: whoever started us is gone.
func (in *inside) serve() int {
	for {
		m, f, err := in.conn.Receive()
		if err != nil {
			return exitFailed
		}
		switch m.Kind {
		case link.Start:
			in.start(f)
		case link.Listen:
			in.listen(m)
		case link.Dial:
			in.dial(m)
		case link.Cancel:
			in.cancel(m.ID)
		case link.Signal:
			in.relay(syscall.Signal(m.Number))
		case link.Resize:
			in.terminal.resize(link.Terminal{Rows: m.Rows, Cols: m.Cols})
		}
	}
}

// reap collects every child: pid 1 inherits the orphans. When the program itself has ended, so has the sandbox.
func (in *inside) reap() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if pid <= 0 {
			return
		}
		if pid == in.pid {
			in.ended = &ws
			in.exited()
		}
	}
}

// exited ends the sandbox when the program has ended. Before exec the stub reports for itself.
func (in *inside) exited() {
	if !in.running || in.ended == nil {
		return
	}
	in.running = false
	m := link.Message{Kind: link.Exited, Status: in.ended.ExitStatus()}
	if in.ended.Signaled() {
		m.Status, m.Signal = 0, int(in.ended.Signal())
	}
	if in.terminal == nil {
		in.leave(m)
		return
	}
	go func() { // the last words come before the news
		in.terminal.drain()
		in.leave(m)
	}()
}

func (in *inside) leave(m link.Message) {
	in.conn.Send(m)
	exit(0)
}

func (in *inside) fail(stage string, status int, err error) {
	in.conn.Send(link.Message{Kind: link.Failed, Stage: stage, Status: status, Text: text(err)})
	exit(status)
}

// text fits any error into a message.
func text(err error) string {
	s := err.Error()
	if len(s) > link.MaxMessage/4 {
		s = s[:link.MaxMessage/4]
	}
	return s
}
