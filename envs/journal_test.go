package envs

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cutOff does a change as far as its journal, which is what a process leaves that is killed then, and n of its renames.
func cutOff(t *testing.T, s *Store, e *Environment, n int, parcels ...parcel) journal {
	t.Helper()
	p := planFor(t, e, true, nil, parcels...)
	a := application{store: s, e: e, plan: p, id: "cut"}
	require.NoError(t, a.compare())
	var err error
	a.stage, err = s.newStage()
	require.NoError(t, err)
	defer a.stage.remove()
	frame, err := makeFrame(e, a.stage.out())
	require.NoError(t, err)
	unpack(t, a.stage.out(), parcels...)
	require.NoError(t, a.look(frame))
	j := a.journal(a.changed(e), nil)
	j.Schema, j.Moves = journalSchema, a.goods.moves(e.Tree(), nil)
	j.Touched, err = touchedBy(e.Tree(), j.Moves)
	require.NoError(t, err)
	require.NoError(t, os.Rename(a.goods.out, filepath.Join(e.dir, incomingName)))
	require.NoError(t, writeJSON(filepath.Join(e.dir, journalName), j))
	for _, m := range j.Moves[:n] {
		require.NoError(t, m.redo(filepath.Join(e.dir, incomingName), e.Tree()))
	}
	return j
}

func TestAChangeThatWasCutOffIsFinishedByWhoeverComesNext(t *testing.T) {
	parcels := []parcel{parcelOf(t, "one", "1", nil, nil), parcelOf(t, "two", "2", nil, nil)}
	for name, next := range map[string]func(*testing.T, *Store, *Environment){
		"a look": func(t *testing.T, s *Store, e *Environment) { _, err := s.Get("a"); require.NoError(t, err) },
		"a kernel": func(t *testing.T, s *Store, e *Environment) {
			r, err := e.Hold()
			require.NoError(t, err)
			require.NoError(t, r())
		},
		"a change": func(t *testing.T, s *Store, e *Environment) {
			require.NoError(t, settle(t.Context(), e.Name, e.dir))
		},
	} {
		for n := range 5 {
			t.Run(name+" after "+strconv.Itoa(n), func(t *testing.T) {
				s := newStore(t)
				e := library(t, s, "a")
				cutOff(t, s, e, n, parcels...)
				next(t, s, e)
				got, err := readManifest(e.dir, e.Name, e.Language)
				require.NoError(t, err)
				assert.Len(t, got.Owned, 2)
				snap, err := got.Snapshot()
				require.NoError(t, err)
				require.NoError(t, got.verify(snap))
				h, err := got.History()
				require.NoError(t, err)
				assert.Len(t, h, 1)
				assert.NoDirExists(t, filepath.Join(e.dir, incomingName))
				assert.NoFileExists(t, filepath.Join(e.dir, journalName))
			})
		}
	}
}

func TestWhatWasNotDecidedIsSwept(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	write(t, filepath.Join(e.dir, incomingName, "lib", "x"), "")
	_, err := s.Get("a")
	require.NoError(t, err)
	assert.NoDirExists(t, filepath.Join(e.dir, incomingName))
}

func TestAJournalThatLeadsOutIsNotObeyed(t *testing.T) {
	for _, m := range []moving{{From: "../../x", To: "y"}, {From: "x", To: "/etc/y"}} {
		s := newStore(t)
		e := library(t, s, "a")
		require.NoError(t, writeJSON(filepath.Join(e.dir, journalName), journal{Schema: 1, Tree: 1, Moves: []moving{m}, Manifest: manifestOf(e)}))
		_, err := s.Get("a")
		var be *BrokenError
		require.ErrorAs(t, err, &be)
		assert.Equal(t, filepath.Join(e.dir, journalName), be.Path)
	}
}

func TestNothingThatIsThereIsReplacedByAJournal(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	cutOff(t, s, e, 0, parcelOf(t, "one", "1", nil, nil))
	write(t, filepath.Join(e.Tree(), siteRel, "one", "__init__.py"), "mine")
	_, err := s.Get("a")
	require.Error(t, err)
	data, err := os.ReadFile(filepath.Join(e.Tree(), siteRel, "one", "__init__.py"))
	require.NoError(t, err)
	assert.Equal(t, "mine", string(data))
}

func TestAKernelThatStartsWaitsForAMerge(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	l, err := lockMerge(t.Context(), e.dir)
	require.NoError(t, err)
	held := make(chan error, 1)
	go func() {
		release, err := e.Hold()
		if err == nil {
			err = release()
		}
		held <- err
	}()
	select {
	case <-held:
		t.Fatal("it did not wait")
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, l.Unlock())
	require.NoError(t, <-held)
}

func TestTakeFollowsAnEnvironmentThatMovesOn(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	install(t, s, e, true, parcelOf(t, "num", "1", nil, nil))
	old, err := s.Get("a")
	require.NoError(t, err)
	install(t, s, old, false, parcelOf(t, "num", "2", nil, nil))
	var nf *NotFoundError
	_, err = old.Hold()
	require.ErrorAs(t, err, &nf)
	now, release, err := s.Take("a")
	require.NoError(t, err)
	assert.Equal(t, 2, now.Generation)
	require.NoError(t, release())
	assert.DirExists(t, now.Tree())
}

func TestHistoryOutlivesALineThatWasCutOff(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	require.NoError(t, appendHistory(e.dir, HistoryEntry{ID: "1"}))
	f, err := os.OpenFile(filepath.Join(e.dir, historyName), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"id":"2","ti`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, appendHistory(e.dir, HistoryEntry{ID: "3"}))
	require.NoError(t, appendHistory(e.dir, HistoryEntry{ID: "3"}))
	h, err := e.History()
	require.NoError(t, err)
	require.Len(t, h, 2)
	assert.Equal(t, "3", h[1].ID)
}

const (
	killedStore = "ENVS_TEST_KILLED_STORE"
	killedKind  = "ENVS_TEST_KILLED_KIND"
)

// TestKilledChild is the process that TestKilledAtAnyMoment kills.
func TestKilledChild(t *testing.T) {
	root := os.Getenv(killedStore)
	if root == "" {
		return // it is nobody's child
	}
	s := &Store{Root: filepath.Join(root, "envs"), Work: filepath.Join(root, "install")}
	e, err := s.Get("a")
	require.NoError(t, err)
	additive := os.Getenv(killedKind) == "additive"
	parcels := killedParcels(t, additive)
	p := planFor(t, e, additive, nil, parcels...)
	_, err = os.Stdout.WriteString("go\n")
	require.NoError(t, err)
	_, err = deliver(t.Context(), t, s, e, p, nil, parcels...)
	require.NoError(t, err)
}

func killedParcels(t testing.TB, additive bool) []parcel {
	big := map[string]string{"big/__init__.py": "", "bigmore.py": "import big\n"}
	for i := range 200 {
		big["big/m"+strconv.Itoa(i)+".py"] = "A = " + strconv.Itoa(i) + "\n"
	}
	parcels := []parcel{parcelOf(t, "low", "1", nil, nil), parcelOf(t, "big", "1", []string{"low"}, big)}
	if !additive {
		parcels = append(parcels, parcelOf(t, "num", "2.0", nil, nil))
	}
	return parcels
}

// killedChild starts the process and returns when it begins with the change.
func killedChild(t *testing.T, root string, additive bool) *exec.Cmd {
	t.Helper()
	kind := "moving"
	if additive {
		kind = "additive"
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilledChild$")
	cmd.Env = append(os.Environ(), killedStore+"="+root, killedKind+"="+kind)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "go\n", line)
	return cmd
}

// whole says that the environment is what it was or what it should be, to the last file.
func whole(t *testing.T, s *Store, was map[string]string, additive bool) (changed bool) {
	t.Helper()
	e, release, err := s.Take("a")
	require.NoError(t, err)
	defer func() { require.NoError(t, release()) }()
	require.NoError(t, checkLinks(e))
	snap, err := e.Snapshot()
	require.NoError(t, err)
	require.NoError(t, e.verify(snap))
	all := everything(t, e.Tree())
	if len(e.Owned) == 1 {
		assert.Equal(t, was, all)
		return false
	}
	assert.Len(t, e.Owned, 3)
	for i := range 200 {
		assert.Contains(t, all, siteRel+"/big/m"+strconv.Itoa(i)+".py")
	}
	want := "VERSION = \"1.0\"\n"
	if !additive {
		want = "VERSION = \"2.0\"\n"
	}
	assert.Equal(t, want, all[siteRel+"/num/__init__.py"])
	return true
}

func TestKilledAtAnyMoment(t *testing.T) {
	for _, additive := range []bool{true, false} {
		t.Run("additive "+strconv.FormatBool(additive), func(t *testing.T) {
			fresh := func() (*Store, string, map[string]string) {
				s := newStore(t)
				root := filepath.Dir(s.Root)
				e := library(t, s, "a")
				install(t, s, e, true, parcelOf(t, "num", "1.0", nil, nil))
				return s, root, everything(t, e.Tree())
			}
			_, root, _ := fresh()
			child := killedChild(t, root, additive)
			start := time.Now()
			require.NoError(t, child.Wait())
			takes := time.Since(start)
			inFlight, done := 0, 0
			const moments = 20
			for i := range moments {
				s, root, was := fresh()
				cmd := killedChild(t, root, additive)
				time.Sleep(takes * time.Duration(i+1) / (moments + 1)) // the moment is what is tested
				_ = cmd.Process.Kill()
				if cmd.Wait() != nil {
					inFlight++
				}
				if whole(t, s, was, additive) {
					done++
				}
				require.NoError(t, unfinished(s))
			}
			assert.Greater(t, inFlight, 5)
			t.Logf("%d of %d were killed on their way, %d had come to their end or were finished afterwards", inFlight, moments, done)
		})
	}
}

// unfinished does the change after a kill: nothing that is left may be in its way.
func unfinished(s *Store) error {
	e, err := s.Get("a")
	if err != nil {
		return err
	}
	l, err := lockWriter(e.Name, e.dir)
	if err != nil {
		return err
	}
	return errors.Join(e.collect(), l.Unlock())
}

// A process that imports in a loop, in a read-only mount as a kernel has it, while packages arrive.
func TestImportsNeverFailWhilePackagesArrive(t *testing.T) {
	const rounds = 60
	s := newStore(t)
	e := library(t, s, "a")
	program := `
import importlib, sys
sys.dont_write_bytecode = True
n = 0
while n < ` + strconv.Itoa(rounds) + `:
    name = "top%d" % n
    try:
        m = importlib.import_module(name)
    except ModuleNotFoundError as e:
        if e.name != name:
            print("FAILED", e, flush=True)
            sys.exit(1)
        importlib.invalidate_caches()
        continue
    n += 1
print("all", flush=True)
`
	var said tail
	said.max = 4 << 10
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var err error
	wg.Go(func() {
		err = bubblewrap(ctx, Tool{Argv: []string{e.python(e.Current()), "-c", program}, Dir: "/", ReadOnly: []Bind{{e.Tree(), e.Current()}}, Stdout: &said, Stderr: &said})
	})
	for i := range rounds {
		n := strconv.Itoa(i)
		low := parcelOf(t, "low"+n, "1", nil, map[string]string{"low" + n + "/__init__.py": "", "low" + n + "/part.py": "X = 1\n"})
		top := parcelOf(t, "top"+n, "1", []string{"low" + n}, map[string]string{
			"top" + n + "/__init__.py": "import importlib.metadata, low" + n + ".part, top" + n + ".own\nassert importlib.metadata.version('top" + n + "') == '1'\n",
			"top" + n + "/own.py":      "",
		})
		e, getErr := s.Get("a")
		require.NoError(t, getErr)
		install(t, s, e, true, low, top)
	}
	wg.Wait()
	require.NoError(t, err, said.String())
	assert.Equal(t, "all\n", said.String())
}
