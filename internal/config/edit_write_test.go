package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFileIsMadeForItsOwnerAlone(t *testing.T) {
	w := newWorld(t)
	w.s.User = filepath.Join(w.base, "home", "new", "kernel-launch", "config.yaml")
	e, text := w.edit(Allow(everywhere, rules(t, "n.test")...))
	assert.Equal(t, w.s.User, e.File)
	assert.Equal(t, "egress:\n  allow: [n.test]\n", text)
	info, err := os.Stat(w.s.User)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(filepath.Dir(w.s.User))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestAFileThatCannotBeReadIsLeftAlone(t *testing.T) {
	const text = "egress:\n  alow: []\nsandbox: {network: internet}\n"
	w := newWorld(t).user(text)
	_, err := Edit(t.Context(), w.s, Allow(everywhere, rules(t, "n.test")...))
	var faults Faults
	require.ErrorAs(t, err, &faults)
	assert.Len(t, faults, 2, "all of them")
	got, err := os.ReadFile(w.s.User)
	require.NoError(t, err)
	assert.Equal(t, text, string(got))
}

func TestALinkStaysALink(t *testing.T) {
	w := newWorld(t)
	real := filepath.Join(w.base, "home", "dotfiles.yaml")
	w.write(real, "version: 1 # mine\n")
	require.NoError(t, os.Symlink(real, w.s.User))
	_, text := w.edit(Allow(everywhere, rules(t, "n.test")...))
	assert.Contains(t, text, "version: 1 # mine\n")
	to, err := os.Readlink(w.s.User)
	require.NoError(t, err)
	assert.Equal(t, real, to)
	require.NoError(t, os.Remove(real))
	_, err = Edit(t.Context(), w.s, Allow(everywhere, rules(t, "m.test")...))
	assert.ErrorContains(t, err, "is a link to nowhere")
}

func TestParallelEditsAreAllMade(t *testing.T) {
	w := newWorld(t).user("# mine\negress:\n  allow: []  # all\n")
	const n = 12
	var work sync.WaitGroup
	errs := make(chan error, n)
	for i := range n {
		change := Allow(everywhere, rules(t, fmt.Sprintf("h%d.test", i))...)
		work.Go(func() {
			_, err := Edit(context.Background(), w.s, change)
			errs <- err
		})
	}
	work.Wait()
	for range n {
		require.NoError(t, <-errs)
	}
	assert.Len(t, w.load().Egress.Allow, n)
}

// TestAnEditOfAnotherKindIsNotLost: an editor knows no lock, and saves while the change is worked out.
func TestAnEditOfAnotherKindIsNotLost(t *testing.T) {
	for _, first := range []string{"", "version: 1\n"} {
		w := newWorld(t)
		if first != "" {
			w.user(first)
		}
		ours, times := Allow(everywhere, rules(t, "n.test")...), 0
		apply := ours.apply
		ours.apply = func(d *draft) error {
			if times++; times == 1 {
				w.user("egress:\n  deny: [bad.test] # meanwhile\n")
			}
			return apply(d)
		}
		_, text := w.edit(ours)
		assert.Equal(t, 2, times)
		assert.Contains(t, text, "  deny: [bad.test] # meanwhile\n")
		assert.Contains(t, text, "allow: [n.test]")
	}
}

// TestAFileThatIsBeingSavedIsNotReplaced: what an editor writes next would go to a file that has no name any more.
func TestAFileThatIsBeingSavedIsNotReplaced(t *testing.T) {
	w := newWorld(t).user("version: 1\n")
	f, err := os.OpenFile(w.s.User, os.O_WRONLY|os.O_TRUNC, 0)
	require.NoError(t, err)
	saved := make(chan error, 1)
	go func() {
		time.Sleep(10 * time.Millisecond)
		_, err := f.WriteString("egress:\n  deny: [bad.test] # all of it\n")
		saved <- errors.Join(err, f.Close())
	}()
	_, text := w.edit(Allow(everywhere, rules(t, "n.test")...))
	require.NoError(t, <-saved)
	assert.Contains(t, text, "  deny: [bad.test] # all of it\n")
	assert.Contains(t, text, "allow: [n.test]")
	require.NoError(t, os.Truncate(w.s.User, 0))
	_, text = w.edit(Allow(everywhere, rules(t, "n.test")...))
	assert.Equal(t, "egress:\n  allow: [n.test]\n", text, "one that stays empty is written")
}

func TestAnEditWaitsNoLongerThanItMay(t *testing.T) {
	w := newWorld(t).user("version: 1\n")
	lock := flock.New(w.s.User + ".lock")
	require.NoError(t, lock.Lock())
	defer lock.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Edit(ctx, w.s, Allow(everywhere, rules(t, "n.test")...))
	assert.ErrorIs(t, err, context.Canceled)
}
