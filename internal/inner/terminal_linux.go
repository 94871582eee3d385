package inner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

const (
	silence = 200 * time.Millisecond // after the program's end: how long an orphan that holds its terminal may say nothing
	residue = 1 << 20                // after the program's end: bytes that are still passed on
	reopen  = 20 * time.Millisecond  // how often a terminal that nobody holds is looked at
)

// terminal is the program's terminal, seen from its other end. A nil one is that of a program that has none.
type terminal struct {
	fd     int // of master: asking a file for it would make it blocking
	master *os.File
	slave  int
	ending chan struct{} // the program has ended
	passed chan struct{} // all that it wrote has been passed on
}

func openTerminal(size *link.Terminal) (*terminal, error) {
	if size == nil {
		return nil, nil
	}
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	t := &terminal{fd: fd, ending: make(chan struct{}), passed: make(chan struct{})}
	if err := t.openSlave(); err != nil {
		return nil, err
	}
	t.master = os.NewFile(uintptr(fd), "/dev/ptmx")
	return t, t.resize(*size)
}

// openSlave opens the program's end. Not as this process's own terminal: pid 1 leads a session.
func (t *terminal) openSlave() error {
	if err := unix.IoctlSetPointerInt(t.fd, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlock the terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(t.fd, unix.TIOCGPTN)
	if err != nil {
		return fmt.Errorf("number of the terminal: %w", err)
	}
	name := "/dev/pts/" + strconv.Itoa(n)
	if t.slave, err = unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	settings, err := unix.IoctlGetTermios(t.slave, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("settings of %s: %w", name, err)
	}
	settings.Iflag |= unix.IUTF8 // so that a backspace takes a whole character
	if err := unix.IoctlSetTermios(t.slave, unix.TCSETS, settings); err != nil {
		return fmt.Errorf("settings of %s: %w", name, err)
	}
	return nil
}

func (t *terminal) resize(size link.Terminal) error {
	if t == nil {
		return nil
	}
	if err := unix.IoctlSetWinsize(t.fd, unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols}); err != nil {
		return fmt.Errorf("size of the terminal: %w", err)
	}
	return nil
}

// foreground is the process group that the terminal's keys signal, 0 for none.
func (t *terminal) foreground() int {
	if t == nil {
		return 0
	}
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// serve carries bytes between the terminal and this process's own input and output, which are the launcher's. The program holds its end by now:
// a second holder would hide that it let go.
func (t *terminal) serve() {
	unix.Close(t.slave)
	go t.copyIn(os.Stdin)
	go t.copyOut(os.Stdout)
}

// copyIn types what comes, and at its end the key for the end of input, as script(1) does: twice after an unfinished line, which the first one ends.
func (t *terminal) copyIn(r io.Reader) {
	last := &lastByte{w: t.master, b: '\n'}
	if _, err := io.Copy(last, r); err != nil {
		return
	}
	settings, err := unix.IoctlGetTermios(t.fd, unix.TCGETS)
	if err != nil {
		return
	}
	key := settings.Cc[unix.VEOF]
	if last.b != '\n' {
		t.master.Write([]byte{key})
	}
	t.master.Write([]byte{key})
}

// lastByte remembers the last byte that went through.
type lastByte struct {
	w io.Writer
	b byte
}

func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.b = p[len(p)-1]
	}
	return l.w.Write(p)
}

// copyOut ends when the program has, and the terminal has nothing more to say. A reader that has gone is no reason to stop: the program would hang.
func (t *terminal) copyOut(w io.Writer) {
	defer close(t.passed)
	buf := make([]byte, 32<<10)
	for left := residue; left > 0; {
		n, err := t.master.Read(buf)
		w.Write(buf[:n])
		select {
		case <-t.ending:
			if err != nil {
				return
			}
			left -= n
			t.limit()
			continue
		default:
		}
		if err != nil && !t.wait(err) {
			return
		}
	}
}

// wait waits a moment when nobody holds the terminal: the program may open it once more, or has ended, which is about to be known.
func (t *terminal) wait(err error) bool {
	if !errors.Is(err, unix.EIO) {
		return false
	}
	select {
	case <-t.ending:
	case <-time.After(reopen):
	}
	return true
}

func (t *terminal) limit() { t.master.SetReadDeadline(time.Now().Add(silence)) }

// drain returns when what the program wrote before its end has been passed on.
func (t *terminal) drain() {
	close(t.ending)
	t.limit()
	<-t.passed
}
