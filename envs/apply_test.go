package envs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/restart"
)

func TestAnAdditivePlanGoesIntoTheTreeThatKernelsHave(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(e.site(), old, old))
	r := install(t, s, e, true, parcelOf(t, "low", "1.0", nil, nil), parcelOf(t, "Top_Name", "2.0", []string{"low"}, nil))
	assert.True(t, r.InPlace)
	assert.True(t, r.Additive)
	assert.Equal(t, 1, r.Generation)
	assert.FileExists(t, filepath.Join(e.Tree(), siteRel, "low", "__init__.py"))
	assert.FileExists(t, filepath.Join(e.Tree(), siteRel, "Top_Name", "__init__.py"))
	got, err := s.Get("a")
	require.NoError(t, err)
	assert.Equal(t, []string{"low", "top-name"}, got.Requested)
	require.Len(t, got.Owned, 2)
	assert.Equal(t, "top-name", got.Owned[1].Name)
	assert.Len(t, got.Owned[1].SHA256, 64)
	assert.Equal(t, []restart.Change{{Name: "low", To: "1.0", Class: restart.Added, ToOwner: OwnerEnv}, {Name: "top-name", To: "2.0", Class: restart.Added, ToOwner: OwnerEnv}}, bare4(r.Changes))
	fi, err := os.Stat(e.site())
	require.NoError(t, err)
	assert.True(t, fi.ModTime().After(old.Add(time.Second)))
	h, err := e.History()
	require.NoError(t, err)
	require.Len(t, h, 1)
	assert.Equal(t, got.Owned, h[0].Owned)
	assert.Equal(t, "0a1b2c3d", h[0].Plan)
	assert.NoFileExists(t, filepath.Join(e.dir, journalName))
	assert.NoDirExists(t, filepath.Join(e.dir, incomingName))
}

// bare4 keeps of changes what these tests speak of.
func bare4(changes restart.Changes) (list []restart.Change) {
	for _, c := range changes {
		list = append(list, restart.Change{Name: c.Name, From: c.From, To: c.To, Class: c.Class, ToOwner: c.ToOwner})
	}
	return list
}

func TestAnyOtherPlanMakesAGenerationAndLeavesTheOldOneAsItWas(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	install(t, s, e, true, parcelOf(t, "num", "1.0", nil, map[string]string{"num/__init__.py": "V = 1\n", "num/old.py": ""}), parcelOf(t, "leaf", "1", nil, nil))
	write(t, filepath.Join(e.Tree(), siteRel, "num", "__pycache__", "old.cpython-311.pyc"), "x")
	e, err := s.Get("a")
	require.NoError(t, err)
	release, err := e.Hold()
	require.NoError(t, err)
	before := everything(t, e.Tree())
	r := install(t, s, e, false, parcelOf(t, "num", "2.0", nil, map[string]string{"num/__init__.py": "V = 2\n", "num/new.py": ""}))
	assert.False(t, r.InPlace)
	assert.Equal(t, 2, r.Generation)
	assert.Equal(t, before, everything(t, e.Tree()), "a kernel of the old generation keeps all of it")
	now, err := s.Get("a")
	require.NoError(t, err)
	require.NoError(t, checkLinks(now))
	all := everything(t, now.Tree())
	assert.Equal(t, "V = 2\n", all[siteRel+"/num/__init__.py"])
	assert.Contains(t, all, siteRel+"/num/new.py")
	assert.Contains(t, all, siteRel+"/leaf/__init__.py")
	for _, gone := range []string{"/num/old.py", "/num/__pycache__/old.cpython-311.pyc", "/num-1.0.dist-info/METADATA"} {
		assert.NotContains(t, all, siteRel+gone)
	}
	assert.Equal(t, "-> "+systemPython, all["bin/python3"])
	assert.DirExists(t, e.Tree())
	require.NoError(t, release())
	assert.NoDirExists(t, e.Tree(), "the last kernel that leaves frees it")
	assert.NoFileExists(t, e.genLock(1))
	assert.DirExists(t, now.Tree())
}

func checkLinks(e *Environment) error {
	at, err := filepath.EvalSymlinks(e.Current())
	if err == nil && !sameFile(at, e.Tree()) {
		return &BrokenError{Name: e.Name, What: at}
	}
	return err
}

func TestUninstall(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	shared := map[string]string{"space/shared.py": "S = 1\n"}
	one := map[string]string{"space/one.py": "", "space/shared.py": shared["space/shared.py"]}
	two := map[string]string{"space/two.py": "", "space/shared.py": shared["space/shared.py"]}
	install(t, s, e, true, parcelOf(t, "one", "1", nil, one), parcelOf(t, "two", "1", nil, two))
	e, err := s.Get("a")
	require.NoError(t, err)
	r, err := deliver(t.Context(), t, s, e, planFor(t, e, false, []string{"one"}), nil)
	require.NoError(t, err)
	assert.False(t, r.Additive)
	now, err := s.Get("a")
	require.NoError(t, err)
	all := everything(t, now.Tree())
	assert.NotContains(t, all, siteRel+"/space/one.py")
	assert.Contains(t, all, siteRel+"/space/shared.py", "another package has it too")
	assert.NoDirExists(t, filepath.Join(now.Tree(), siteRel, "one-1.dist-info"))
	assert.NoDirExists(t, e.Tree(), "nobody holds it")
	assert.Equal(t, []string{"two"}, now.Requested)
	require.Len(t, now.Owned, 1)
	_, err = deliver(t.Context(), t, s, now, planFor(t, now, false, []string{"one"}), nil)
	assert.ErrorContains(t, err, "does not have it")
	_, err = s.Get("a")
	require.NoError(t, err)
	left, err := now.generations()
	require.NoError(t, err)
	assert.ElementsMatch(t, []int{2, 2}, left, "a refused change leaves no generation behind")
}

func TestAPlanOfAnotherStateIsRefusedAndSaysWhatChanged(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	stale := planFor(t, e, true, nil, parcelOf(t, "x", "1", nil, nil))
	install(t, s, e, true, parcelOf(t, "num", "1.0", nil, nil))
	_, err := s.Apply(t.Context(), stale)
	var ce *ChangedError
	require.ErrorAs(t, err, &ce)
	assert.ErrorContains(t, err, "changed")
	assert.ErrorContains(t, err, "num")
}

func TestAnExpiredPlanIsRefused(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	p := planFor(t, e, true, nil, parcelOf(t, "x", "1", nil, nil))
	p.Expires = time.Now().Add(-time.Minute)
	_, err := s.Apply(t.Context(), p)
	var ee *ExpiredError
	require.ErrorAs(t, err, &ee)
}

func TestWhoeverComesSecondIsToldWhoIsThere(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	l, err := lockWriter("a", e.dir)
	require.NoError(t, err)
	require.NoError(t, newClaim("a", "feedbeef").write(e.dir))
	_, err = s.Apply(t.Context(), planFor(t, e, true, nil, parcelOf(t, "x", "1", nil, nil)))
	var be *BusyError
	require.ErrorAs(t, err, &be)
	assert.Contains(t, err.Error(), "plan feedbeef")
	require.NoError(t, l.Unlock())
	c, ok := readClaim(e.dir)
	require.True(t, ok)
	assert.Equal(t, os.Getpid(), c.Pid)
	assert.NotEmpty(t, c.Token)
}

func TestAFailedPlanChangesNothingAndSaysWhyAfterwards(t *testing.T) {
	s := newStore(t)
	s.Exec = nil
	e := library(t, s, "a")
	before := everything(t, e.dir)
	_, err := s.Apply(t.Context(), planFor(t, e, true, nil, parcelOf(t, "x", "1", nil, nil)))
	require.ErrorIs(t, err, errNoSandbox)
	c, ok := readClaim(e.dir)
	require.True(t, ok)
	assert.Equal(t, claimFailed, c.State)
	assert.NotEmpty(t, c.Reason)
	after := everything(t, e.dir)
	delete(after, claimName)
	delete(after, lockName)
	delete(before, lockName)
	assert.Equal(t, before, after)
}

// What a plan brings can do more than its metadata says.
func TestAnAdditivePlanThatWouldDisturbKernelsStops(t *testing.T) {
	for what, c := range map[string]struct {
		files map[string]string
		word  string
	}{
		"other content of a file that is there": {map[string]string{"num/__init__.py": "V = 9\n"}, "num 1.0"},
		"a file more in another's package":      {map[string]string{"num/plugin.py": "", "num/__init__.py": "V = 1\n", "new.py": ""}, ""},
		"a module over an orphan":               {map[string]string{"orphan/__init__.py": ""}, "orphan"},
	} {
		t.Run(what, func(t *testing.T) {
			s := newStore(t)
			e := library(t, s, "a")
			install(t, s, e, true, parcelOf(t, "num", "1.0", nil, map[string]string{"num/__init__.py": "V = 1\n"}))
			write(t, filepath.Join(e.Tree(), siteRel, "orphan", "part.py"), "")
			e, err := s.Get("a")
			require.NoError(t, err)
			before := everything(t, e.Tree())
			p := parcelOf(t, "evil", "1", nil, c.files)
			_, err = deliver(t.Context(), t, s, e, planFor(t, e, true, nil, p), nil, p)
			if c.word != "" {
				require.ErrorContains(t, err, c.word)
				assert.Equal(t, before, everything(t, e.Tree()))
			}
			// As a generation it can be had.
			r, err := deliver(t.Context(), t, s, e, planFor(t, e, false, nil, p), nil, p)
			if c.word != "" {
				require.NoError(t, err)
				assert.False(t, r.InPlace)
			}
		})
	}
}

func TestNewStartupHooksAreReported(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	r := install(t, s, e, true, parcelOf(t, "hook", "1", nil, map[string]string{"hook.py": "", "hook.pth": "import os\n"}))
	require.Len(t, r.Hooks, 1)
	assert.Equal(t, "hook.pth", r.Hooks[0].Name)
	assert.Equal(t, "hook", r.Hooks[0].Owner)
	assert.Equal(t, restart.AddedAtStart, r.Changes[0].Class)
}
