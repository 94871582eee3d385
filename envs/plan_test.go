package envs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/restart"
)

// aPlan is one with an alternative, as Prepare makes them.
func aPlan(t *testing.T) *Plan {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	before := restart.Snapshot{Language: Python, Packages: []restart.Package{{Name: "klnum", Version: "1.5", Folder: "/e", Owner: OwnerEnv}}}
	p := &Plan{
		Schema: planSchema, ID: "0123abcd", Created: now, Expires: now.Add(planLife), Environment: "a", Language: Python, Generation: 1,
		Base: DigestOf(before), Before: before, Request: Request{Add: []string{"klchoice"}}, Additive: true,
		Changes: restart.Changes{{Name: "klchoice", To: "1.0", Class: restart.Added}},
		Files:   []PlannedFile{{Name: "klchoice", Version: "1.0", Filename: "klchoice-1.0-py3-none-any.whl", URL: "http://g/files/0/x", SHA256: digest, Size: 2048, Uploaded: "2026-01-02T03:04:05Z", Requires: []string{}}},
	}
	other := *p
	other.ID, other.Additive = "4567cdef", false
	other.Changes = restart.Changes{{Name: "klchoice", To: "2.0", Class: restart.Added}, {Name: "klnum", From: "1.5", To: "2.0", Class: restart.Changed}}
	require.NoError(t, other.seal())
	p.Alternative = &other
	require.NoError(t, p.seal())
	return p
}

func TestAPlanIsKept(t *testing.T) {
	s, dir, p := &Store{}, filepath.Join(private(t), "plans"), aPlan(t)
	require.NoError(t, s.SavePlan(dir, p))
	got, err := s.LoadPlan(dir, p.ID)
	require.NoError(t, err)
	assert.Equal(t, p, got)
	other, err := s.LoadPlan(dir, p.Alternative.ID)
	require.NoError(t, err)
	assert.Equal(t, p.Alternative, other)
	fi, err := os.Stat(planFile(dir, p.ID))
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, fi.Mode().Perm())
}

func TestAPlanThatIsNotTaken(t *testing.T) {
	for what, c := range map[string]struct {
		spoil func(dir, file string, p *Plan) error
		words string
	}{
		"changed": {func(_, file string, _ *Plan) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, []byte(strings.Replace(string(data), digest, strings.Repeat("b", 64), 1)), 0o600)
		}, "digest differs"},
		"what it stands on changed": {func(_, file string, _ *Plan) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, []byte(strings.Replace(string(data), `"folder": "/e"`, `"folder": "/f"`, 1)), 0o600)
		}, "digest differs"},
		"a field that is not known": {func(_, file string, _ *Plan) error {
			return os.WriteFile(file, []byte(`{"schema": 1, "run": "x"}`), 0o600)
		}, "cannot be read"},
		"cut off": {func(_, file string, _ *Plan) error { return os.Truncate(file, 100) }, "cannot be read"},
		"gone":    {func(_, file string, _ *Plan) error { return os.Remove(file) }, "there is none"},
		"a link": {func(_, file string, _ *Plan) error {
			return errors.Join(os.Rename(file, file+"x"), os.Symlink(file+"x", file))
		}, "no file of a plan"},
		"a folder that others can enter": {func(dir, _ string, _ *Plan) error { return os.Chmod(dir, 0o777) }, "others can enter"},
		"another's id":                   {func(dir, file string, p *Plan) error { return os.Rename(planFile(dir, p.Alternative.ID), file) }, "digest differs"},
	} {
		t.Run(what, func(t *testing.T) {
			s, dir, p := &Store{}, filepath.Join(private(t), "plans"), aPlan(t)
			require.NoError(t, s.SavePlan(dir, p))
			require.NoError(t, c.spoil(dir, planFile(dir, p.ID), p))
			_, err := s.LoadPlan(dir, p.ID)
			var pe *PlanError
			require.ErrorAs(t, err, &pe)
			assert.ErrorContains(t, err, c.words)
		})
	}
	for _, id := range []string{"", "../../x", "0123ABCD", "0123abcd0"} {
		_, err := (&Store{}).LoadPlan(t.TempDir(), id)
		assert.ErrorContains(t, err, "8 hexadecimal digits")
	}
}

func TestAPlanExpires(t *testing.T) {
	p := aPlan(t)
	require.NoError(t, p.check(p.ID, time.Now()))
	assert.ErrorContains(t, p.check(p.ID, time.Now().Add(25*time.Hour)), "expired")
	assert.ErrorContains(t, p.check(p.ID, time.Now().Add(-2*time.Hour)), "expired", "a clock that was set back makes no plan live longer")

	dir := filepath.Join(private(t), "plans")
	require.NoError(t, (&Store{}).SavePlan(dir, p))
	sweepPlans(dir, time.Now().Add(24*time.Hour))
	assert.FileExists(t, planFile(dir, p.ID))
	sweepPlans(dir, time.Now().Add(49*time.Hour))
	assert.NoFileExists(t, planFile(dir, p.ID))
}

func TestWhatADigestCovers(t *testing.T) {
	sum := func(change func(p *Plan)) string {
		p := aPlan(t)
		p.Created, p.Expires = time.Time{}, time.Time{}
		change(p)
		require.NoError(t, p.seal())
		return p.Digest
	}
	same := sum(func(*Plan) {})
	for what, change := range map[string]func(p *Plan){
		"id": func(p *Plan) { p.ID = "ffffffff" }, "time": func(p *Plan) { p.Created = time.Now() }, "gateway": func(p *Plan) { p.Files[0].URL = "http://h/files/0/x" },
	} {
		assert.Equal(t, same, sum(change), what)
	}
	for what, change := range map[string]func(p *Plan){
		"environment": func(p *Plan) { p.Environment = "b" }, "generation": func(p *Plan) { p.Generation = 2 }, "ground": func(p *Plan) { p.Base = "x" },
		"file": func(p *Plan) { p.Files[0].SHA256 = "x" }, "removal": func(p *Plan) { p.Remove = []string{"x"} }, "source": func(p *Plan) { p.Request.AllowSource = true },
		"breaks": func(p *Plan) { p.Breaks = []Breakage{{Name: "x"}} }, "alternative": func(p *Plan) { p.Alternative.Files[0].Version = "3"; p.Alternative.Remove = []string{"y"} },
		"additive": func(p *Plan) { p.Additive = false }, "changes": func(p *Plan) { p.Changes[0].To = "9" },
	} {
		assert.NotEqual(t, same, sum(change), what)
	}
}

func TestFilesInOrder(t *testing.T) {
	env := Interpreter{Version: "3.11.2", Platform: "linux-x86_64"}.markers()
	file := func(name string, requires ...string) PlannedFile { return PlannedFile{Name: name, Requires: requires} }
	var order []string
	for _, f := range dependenciesFirst([]PlannedFile{
		file("a", "z>=1", "not a requirement"), file("b", "c"), file("c", "b", "x ; python_version < '3'"), file("x"), file("z", "y ; extra == 'e'"), file("y"),
	}, env) {
		order = append(order, f.Name)
	}
	assert.Equal(t, []string{"y", "z", "a", "c", "b", "x"}, order)
}

func TestSentencesOfAPlan(t *testing.T) {
	p := aPlan(t)
	p.Notes = []string{"bad\x1b[31mnote"}
	p.Files[0].Source = true
	assert.Equal(t, []string{
		"klchoice 1.0 comes (2.0 KiB, of 2026-01-02, to be built from source, which runs its code).",
		"Nothing that a running kernel may have loaded changes.",
		`bad\x1b[31mnote.`,
		"The newest instead: klchoice 2.0, klnum 1.5 → 2.0, which running kernels may have loaded.",
	}, p.Sentences())
	p.Unchanged = true
	assert.Equal(t, "All of it is there already: klchoice.", p.Sentences()[0])
}
