package envs

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAHeldEnvironmentIsNotRemoved(t *testing.T) {
	s := newStore(t)
	e := planted(t, s, Python, "a")
	first, err := e.Hold()
	require.NoError(t, err)
	second, err := e.Hold()
	require.NoError(t, err, "kernels share it")
	require.NoError(t, first())
	var be *BusyError
	require.ErrorAs(t, s.Remove(t.Context(), "a"), &be)
	assert.Contains(t, be.What, "generation 1")
	require.NoError(t, e.Check(), "a refused removal changes nothing")
	require.NoError(t, second())
	require.NoError(t, s.Remove(t.Context(), "a"))
	assert.NoDirExists(t, e.dir)
	var nf *NotFoundError
	_, err = e.Hold()
	require.ErrorAs(t, err, &nf)
	require.ErrorAs(t, s.Remove(t.Context(), "a"), &nf)
}

func TestAnEnvironmentThatSomebodyChangesIsNotRemoved(t *testing.T) {
	s := newStore(t)
	e := planted(t, s, Python, "a")
	l, err := lockWriter("a", e.dir)
	require.NoError(t, err)
	var be *BusyError
	require.ErrorAs(t, s.Remove(t.Context(), "a"), &be)
	require.NoError(t, l.Unlock())
	require.NoError(t, s.Remove(t.Context(), "a"))
}

func TestRemoveFollowsNoLinkAndTakesReadOnlyFolders(t *testing.T) {
	s := newStore(t)
	e := planted(t, s, Python, "a")
	outside := private(t)
	write(t, filepath.Join(outside, "precious"), "x")
	require.NoError(t, os.Symlink(outside, filepath.Join(e.Tree(), "link")))
	deep := filepath.Join(e.Tree(), "locked", "deep")
	write(t, filepath.Join(deep, "f"), "x")
	require.NoError(t, os.Chmod(deep, 0o500))
	require.NoError(t, os.Chmod(filepath.Dir(deep), 0o000))
	require.NoError(t, s.Remove(t.Context(), "a"))
	assert.NoDirExists(t, e.dir)
	assert.FileExists(t, filepath.Join(outside, "precious"))
	fi, err := os.Stat(outside)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), fi.Mode().Perm())
}

func TestALockWhoseFileWasReplacedIsNone(t *testing.T) {
	p := filepath.Join(t.TempDir(), "l")
	require.NoError(t, os.WriteFile(p, nil, 0o600))
	l, ok, err := openLock(p, true, os.O_RDWR)
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = openLock(p, false, os.O_RDWR)
	require.NoError(t, err)
	assert.False(t, ok)
	require.NoError(t, l.Unlock())
	_, _, err = openLock(p+"none", true, os.O_RDWR)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestNamesAreUniqueAcrossLanguagesAndCase(t *testing.T) {
	s := newStore(t)
	planted(t, s, R, "Study")
	_, err := s.Create(t.Context(), CreateOptions{Name: "study"})
	var ee *ExistsError
	require.ErrorAs(t, err, &ee)
	assert.Equal(t, ExistsError{"Study", R}, *ee)
}

func TestBadOptionsAreAllNamed(t *testing.T) {
	_, err := newStore(t).Create(t.Context(), CreateOptions{Name: "-", Language: "julia"})
	var ne *NameError
	var le *LanguageError
	require.ErrorAs(t, err, &ne)
	require.ErrorAs(t, err, &le)
}

func TestTwoCreatesAtOnce(t *testing.T) {
	x := kernelIndex(t)
	s := newStore(t)
	s.Index = IndexSettings{URL: x.simple()}
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = s.Create(t.Context(), CreateOptions{Name: []string{"one", "ONE"}[i%2], Python: systemPython, Isolated: true})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		var be *BusyError
		var ee *ExistsError
		if err == nil {
			won++
		} else {
			assert.True(t, errors.As(err, &be) || errors.As(err, &ee), "%v", err)
		}
	}
	assert.Equal(t, 1, won)
	list, bad := s.List()
	require.Empty(t, bad)
	require.Len(t, list, 1)
	require.NoError(t, list[0].Check())
}

// What a killed create leaves has everything but the manifest.
func TestAnInterruptedCreateIsSweptByTheNext(t *testing.T) {
	x := kernelIndex(t)
	s := newStore(t)
	s.Index = IndexSettings{URL: x.simple()}
	half := planted(t, s, R, "Half")
	require.NoError(t, os.Remove(filepath.Join(half.dir, manifestName)))
	write(t, filepath.Join(s.Work, "stage", "dead", "out", "f"), "x")
	write(t, filepath.Join(s.Work, "stage", "dead.lock"), "")
	require.NoError(t, os.Chmod(s.Work, 0o700))
	require.NoError(t, os.Chmod(filepath.Join(s.Work, "stage"), 0o700))
	write(t, filepath.Join(s.Root, Python, gone+"x", "env.json"), "")
	require.NoError(t, os.Chmod(filepath.Join(s.Root, Python), 0o700))
	list, errs := s.List()
	assert.Empty(t, list)
	assert.Empty(t, errs)

	e, err := s.Create(t.Context(), CreateOptions{Name: "half", Python: systemPython, Isolated: true})
	require.NoError(t, err)
	require.NoError(t, e.Check())
	assert.NoDirExists(t, half.dir)
	assert.NoDirExists(t, filepath.Join(s.Root, Python, gone+"x"))
	left, err := os.ReadDir(filepath.Join(s.Work, "stage"))
	require.NoError(t, err)
	assert.Empty(t, left)
}
