package cli

import (
	"io"
	"sync"

	"golang.org/x/term"

	"github.com/kernel-launch/kernel-launch/launcher"
)

// console joins a command inside with what this process was given as its standard descriptors. None of them goes in.
type console struct {
	app            *app
	shape          shape
	stdout, stderr captured // with --json

	mu   sync.Mutex
	mode *term.State // of the user's terminal, while it is raw
	over bool
}

// shape is how the three streams are passed.
type shape struct {
	terminal bool // the command gets a terminal of its own
	input    bool
	outPlain bool // to a terminal that is not the command's: made safe
	errPlain bool
	forTools bool
}

// given are the facts that decide a shape.
type given struct {
	in, out, err bool // it is a terminal
	background   bool // the terminal belongs to another job: reading it, or changing its mode, would stop this one
	json         bool
}

// shapeOf gives a terminal only where all three are one: standard error that goes elsewhere would come out of the terminal otherwise.
func shapeOf(g given) shape {
	s := shape{forTools: g.json, input: !(g.in && g.background)}
	if g.json {
		return s
	}
	s.terminal = g.in && g.out && g.err && !g.background
	s.outPlain, s.errPlain = g.out && !s.terminal, g.err && !s.terminal
	return s
}

func (a *app) console() *console {
	in := descriptor(a.in)
	return &console{app: a, shape: shapeOf(given{
		in: isTerminal(a.in), out: isTerminal(a.out), err: isTerminal(a.err), background: isTerminal(a.in) && inBackground(in), json: a.json,
	})}
}

// connect gives the streams to a launch.
func (c *console) connect(s *launcher.Spec) {
	a := c.app
	if c.shape.input {
		s.Stdin = a.in
	}
	if c.shape.forTools {
		s.Stdout, s.Stderr = &c.stdout, &c.stderr
		return
	}
	s.Stdout, s.Stderr = shown(a.out, c.shape.outPlain), shown(a.err, c.shape.errPlain)
	if c.shape.terminal {
		s.Stderr = newlines{c, a.err}
		s.Terminal = c.size()
	}
}

// size asks the user's terminal; one that does not know has the size that terminals had.
func (c *console) size() *launcher.Terminal {
	cols, rows, err := term.GetSize(descriptor(c.app.out))
	if err != nil || cols <= 0 || rows <= 0 {
		return &launcher.Terminal{Rows: 24, Cols: 80}
	}
	return &launcher.Terminal{Rows: uint16(min(rows, 1<<15)), Cols: uint16(min(cols, 1<<15))}
}

// began makes the user's terminal raw: keys, Ctrl-C among them, are for the terminal inside.
func (c *console) began(k *launcher.Kernel) {
	if !c.shape.terminal {
		return
	}
	c.raw()
	k.Resize(*c.size()) // it may have changed during the start
}

func (c *console) raw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mode != nil || c.over {
		return
	}
	if mode, err := term.MakeRaw(descriptor(c.app.in)); err == nil {
		c.mode = mode
	}
}

// cooked gives the user's terminal back for a while.
func (c *console) cooked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mode != nil {
		term.Restore(descriptor(c.app.in), c.mode)
		c.mode = nil
	}
}

// restore gives it back for good.
func (c *console) restore() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.cooked()
}

// newlines writes what the launcher itself says while the terminal is raw, where a line feed does not go back to the left.
type newlines struct {
	c *console
	w io.Writer
}

func (n newlines) Write(p []byte) (int, error) {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	if n.c.mode == nil {
		return n.w.Write(p)
	}
	for _, b := range p {
		text := []byte{b}
		if b == '\n' {
			text = []byte("\r\n")
		}
		if _, err := n.w.Write(text); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// descriptor is that of a stream of this process, or -1.
func descriptor(stream any) int {
	if f, ok := stream.(interface{ Fd() uintptr }); ok {
		return int(f.Fd())
	}
	return -1
}

func isTerminal(stream any) bool { return term.IsTerminal(descriptor(stream)) }
