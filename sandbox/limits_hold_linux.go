package sandbox

import (
	"context"
	"errors"
	"os"
)

// entry keeps bubblewrap from doing anything until it is in its groups. It reads the first of its options from a pipe, and waits for the pipe's end.
// When this program dies meanwhile the option is missing, and bubblewrap refuses the others without it. Without limits nothing waits, and nil does nothing.
type entry struct {
	confinement *confinement
	hold, ours  *os.File
}

// firstOption is held back: --disable-userns is an error without it.
const firstOption = "--unshare-user"

func newEntry(ctx context.Context, b *Bounds) (*entry, error) {
	c, err := confine(ctx, b)
	if c == nil || err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return &entry{confinement: c, hold: r, ours: w}, nil
}

// options are those before the file of options: the pipe with the one that is held back.
func (e *entry) options(d *donation) []string {
	if e == nil {
		return nil
	}
	return []string{"--args", d.give(e.hold)}
}

// rest is what the file of options holds.
func (e *entry) rest(options []string) []string {
	if e == nil {
		return options
	}
	return options[1:]
}

// enter lets a bubblewrap that has just been started go on, inside of its groups.
func (e *entry) enter(pid int) error {
	if e == nil {
		return nil
	}
	if err := e.confinement.enter(pid); err != nil {
		return errors.Join(err, e.ours.Close())
	}
	_, err := e.ours.WriteString(firstOption)
	return errors.Join(err, e.ours.Close())
}

// leave says what became of the limits and removes the groups, when everything in them has ended.
func (e *entry) leave() (*LimitHit, error) {
	if e == nil {
		return nil, nil
	}
	e.ours.Close()
	return e.confinement.hit(), e.confinement.remove()
}
