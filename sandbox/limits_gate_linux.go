package sandbox

import (
	"context"
	"errors"
	"os"
)

// gate keeps bubblewrap from doing anything until it is in its groups. It reads the first of its options from a pipe, and waits for the pipe's end.
// When this program dies meanwhile the option is missing, and bubblewrap refuses the others without it. Without limits nothing waits, and nil does nothing.
type gate struct {
	confinement *confinement
	hold, ours  *os.File
}

// firstOption is held back: --disable-userns is an error without it.
const firstOption = "--unshare-user"

func newGate(ctx context.Context, b *Bounds) (*gate, error) {
	c, err := confine(ctx, b)
	if c == nil || err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return &gate{confinement: c, hold: r, ours: w}, nil
}

// options are those before the file of options: the pipe with the one that is held back.
func (g *gate) options(d *donation) []string {
	if g == nil {
		return nil
	}
	return []string{"--args", d.give(g.hold)}
}

// rest is what the file of options holds.
func (g *gate) rest(options []string) []string {
	if g == nil {
		return options
	}
	return options[1:]
}

// enter lets a bubblewrap that has just been started go on, inside of its groups.
func (g *gate) enter(pid int) error {
	if g == nil {
		return nil
	}
	if err := g.confinement.enter(pid); err != nil {
		return errors.Join(err, g.ours.Close())
	}
	_, err := g.ours.WriteString(firstOption)
	return errors.Join(err, g.ours.Close())
}

// leave says what became of the limits and removes the groups, when everything in them has ended.
func (g *gate) leave() (*LimitHit, error) {
	if g == nil {
		return nil, nil
	}
	g.ours.Close()
	g.hold.Close()
	return g.confinement.hit(), g.confinement.remove()
}
