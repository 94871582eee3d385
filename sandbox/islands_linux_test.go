package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// withIsland is a world whose working folder is a repository.
func withIsland(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.write(w.work+"/.git/config", "[core]\n")
	return w
}

func TestAnIslandCannotBeChangedFromInside(t *testing.T) {
	w := withIsland(t)
	git := w.work + "/.git"
	require.Equal(t, "ok\n", w.outside("write", git+"/config"), "the control: outside it can be opened for writing")
	require.Equal(t, "ok\n", w.outside("create", git+"/made"))
	require.NoError(t, os.Remove(git+"/made"))
	assert.Equal(t, "[core]\nok\n", w.inside("read", git+"/config"))
	assert.Equal(t, "read-only file system\n", w.inside("write", git+"/config"))
	assert.Equal(t, "read-only file system\n", w.inside("create", git+"/made"))
	assert.Equal(t, "device or resource busy\n", w.inside("away", git), "nor can it make room for another")
	assert.Equal(t, "ok\n", w.inside("create", w.work+"/beside"), "the folder itself can be written")
	w.policy.Write = []string{git}
	assert.Equal(t, "ok\n", w.inside("create", git+"/made"), "the line that lifts it")
}

func TestAStartTellsWhatMustStandWhere(t *testing.T) {
	w := withIsland(t)
	file := w.base + "/table"
	w.write(file, "1\n")
	w.policy.Read = []string{file}
	require.NoError(t, os.Mkdir(w.work+"/venv", 0o755))
	p, err := Default().Start(t.Context(), w.plan(), Command{Argv: []string{HelperTarget, "probe", "exit"}})
	require.NoError(t, err)
	require.NoError(t, p.Wait())
	var want []Island
	for _, path := range []string{w.work, file, w.work + "/.git", w.work + "/venv"} {
		id, _, ok := identity(path)
		require.True(t, ok)
		want = append(want, Island{path, id.dev, id.ino, path == w.work})
	}
	assert.ElementsMatch(t, want, p.Islands())
}

func TestNoDescriptorOfAnIslandStaysInside(t *testing.T) {
	w := withIsland(t)
	for _, program := range []string{"", older0(t)} {
		plan := w.plan()
		if program != "" {
			plan.Program = program
		}
		assert.Equal(t, w.insideOf(without(plan), "files"), w.insideOf(plan, "files"))
	}
}

// without is the plan without its islands.
func without(p *Plan) *Plan {
	q := *p
	q.Mounts = nil
	for _, m := range p.Mounts {
		if !m.Island {
			q.Mounts = append(q.Mounts, m)
		}
	}
	return &q
}

// older0 is a bwrap that knows no option for an open folder, as those before 0.10 that no distribution mended.
func older0(t *testing.T) string {
	t.Helper()
	program, err := (&Bubblewrap{}).Program()
	require.NoError(t, err)
	data, err := os.ReadFile(program)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "bwrap")
	require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(data, []byte("--ro-bind-fd\x00"), []byte("--ro-bind-no\x00")), 0o755))
	require.False(t, bindsDescriptors(path))
	return path
}

func TestAnIslandThatIsNoFolderAnyMoreEndsTheStart(t *testing.T) {
	for name, swap := range map[string]func(w *world, git string) error{
		"a link":       func(w *world, git string) error { return os.Symlink(w.home, git) },
		"a file":       func(_ *world, git string) error { return os.WriteFile(git, nil, 0o600) },
		"nothing":      func(*world, string) error { return nil },
		"a pipe":       func(_ *world, git string) error { return unix.Mkfifo(git, 0o600) },
		"a chain":      func(w *world, git string) error { return os.Symlink(".away", git) },
		"a magic link": func(_ *world, git string) error { return os.Symlink("/proc/self/cwd", git) },
	} {
		t.Run(name, func(t *testing.T) {
			w := withIsland(t)
			plan, git := w.plan(), w.work+"/.git"
			require.NoError(t, os.Rename(git, w.work+"/.away"))
			require.NoError(t, swap(w, git))
			_, err := Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "exit"}})
			var e *IslandError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, git, e.Path)
		})
	}
}

func TestAnIslandBelowALinkEndsTheStart(t *testing.T) {
	w := withIsland(t)
	plan := w.plan()
	require.NoError(t, os.Rename(w.work, w.work+"-moved"))
	require.NoError(t, os.Symlink(w.work+"-moved", w.work))
	_, err := Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "exit"}})
	var e *IslandError
	require.ErrorAs(t, err, &e)
}

// TestAGrantBelowALinkEndsTheStart: another kernel, which works in a folder around the grant, has put a link in the place of a part of its path.
func TestAGrantBelowALinkEndsTheStart(t *testing.T) {
	for _, use := range []string{"folder", "read", "write"} {
		w := newWorld(t)
		granted := w.base + "/around/part/granted"
		w.write(granted+"/file", "")
		switch use {
		case "folder":
			w.policy.Folder = granted
		case "read":
			w.policy.Read = []string{granted}
		case "write":
			w.policy.Write = []string{granted}
		}
		plan := w.plan()
		p, err := Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "exit"}})
		require.NoError(t, err, "the control")
		require.NoError(t, p.Wait())
		require.NoError(t, os.Rename(w.base+"/around/part", w.base+"/around/away"))
		require.NoError(t, os.MkdirAll(w.base+"/around/part", 0o755))
		require.NoError(t, os.Symlink(w.home, granted))
		_, err = Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "exit"}})
		var e *IslandError
		if assert.ErrorAs(t, err, &e, use) {
			assert.Equal(t, granted, e.Path)
		}
	}
}

func TestWhatIsCoveredInsideIsNotLookedForThere(t *testing.T) {
	w := newWorld(t)
	w.write(w.base+"/data/file", "")
	w.policy.Read, w.policy.Hide = []string{w.base + "/data"}, []string{w.base + "/data"}
	for _, m := range w.plan().Mounts {
		assert.False(t, m.Pinned && m.Target == w.base+"/data", m)
	}
}

// TestAnIslandThatIsSwappedWhileItIsMounted plays another kernel of the same folder, which puts links to folders of the host where the island is, between
// the plan and the end of the start. The links are what bwrap would follow while it builds the view, where the host's root is at /oldroot.
func TestAnIslandThatIsSwappedWhileItIsMounted(t *testing.T) {
	const wanted = 50 // for each way to hand the folder over
	for name, program := range map[string]string{"by descriptor": "", "by path": older0(t)} {
		t.Run(name, func(t *testing.T) {
			w := withIsland(t)
			w.write(w.base+"/out/there/file", "the host's")
			plan := w.plan()
			if program != "" {
				plan.Program = program
			}
			before := everything(t, w.base+"/out")
			swapped, stop := w.swap(w.work+"/.git", w.base+"/out/there", "/oldroot"+w.base+"/out/there", "/oldroot"+w.base+"/out/missing", "../../../../../../oldroot"+w.base+"/out/missing", "/newroot/missing")
			seen := map[string]int{}
			end := time.Now().Add(time.Minute) // a start that is not pinned takes no time, and a busy machine does not swap in it
			for tries := 0; (tries-seen[notPinned] < wanted || swapped() <= wanted) && time.Now().Before(end); tries++ {
				seen[w.startsSoundly(plan)]++
			}
			stop()
			swaps := swapped()
			require.Equal(t, before, everything(t, w.base+"/out"), "nothing appeared or changed there")
			t.Logf("%v, %d swaps", seen, swaps)
			require.Greater(t, swaps, wanted)
			require.NotZero(t, seen["sound"], "some starts go well between the swaps")
			require.NotZero(t, seen["refused"]+seen["no view"], "some were caught")
		})
	}
}

// swap exchanges a folder for links to targets, again and again, until it is told to stop. It returns how often it did.
func (w *world) swap(path string, targets ...string) (swapped func() int, stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var wg sync.WaitGroup
	var count atomic.Int64
	wg.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			time.Sleep(time.Duration(n%17) * time.Millisecond)
			os.Rename(path, path+".real")
			os.Symlink(targets[n%len(targets)], path)
			time.Sleep(time.Duration(n%4) * time.Millisecond)
			os.Remove(path) // a folder in its place, if bwrap made one, goes too
			os.Rename(path+".real", path)
			count.Add(1)
		}
	})
	return func() int { return int(count.Load()) }, func() { cancel(); wg.Wait() }
}

const notPinned = "not pinned"

// startsSoundly starts once and says what became of it. Where a command would have been let run, the island is in its place and cannot be written.
func (w *world) startsSoundly(plan *Plan) string {
	w.t.Helper()
	r, orders, err := os.Pipe()
	require.NoError(w.t, err)
	defer r.Close()
	out, err := memory("output", nil)
	require.NoError(w.t, err)
	defer out.Close()
	p, err := Default().Start(w.t.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "island"}, Files: []*os.File{r}, Stdout: out})
	if err != nil {
		var e *IslandError
		require.ErrorAs(w.t, err, &e)
		orders.Close()
		return notPinned
	}
	json.NewEncoder(orders).Encode(p.Islands())
	orders.Close()
	p.Wait()
	text := make([]byte, 1000)
	n, _ := out.ReadAt(text, 0)
	verdict := strings.TrimSpace(string(text[:n]))
	if verdict == "" {
		return "no view" // bwrap gave up
	}
	require.Contains(w.t, []string{"refused", "sound"}, verdict)
	return verdict
}

// TestWhyIslandsLieDirectlyBeneathAGrant shows what bubblewrap does with a link that was planted on the way to a destination, and in its place.
func TestWhyIslandsLieDirectlyBeneathAGrant(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.base+"/out", 0o755))
	plant := func(name, to string) { require.NoError(t, os.Symlink("/oldroot"+w.base+to, w.work+name)) }
	plant("/way", "/out")
	plant("/.git", "/out/missing")
	try := func(target string) {
		plan := w.plan()
		last := len(plan.Mounts) - 2
		m := Mount{Kind: MountReadOnly, Source: "/usr", Target: w.work + target}
		plan.Mounts = append(append(append([]Mount{}, plan.Mounts[:last]...), m), plan.Mounts[last:]...)
		w.try(plan, "exit")
	}
	try("/.git")
	assert.Empty(t, everything(t, w.base+"/out")[1:], "in its place: nothing is made")
	try("/way/.git")
	if program, err := (&Bubblewrap{}).Program(); err == nil && older(Version(t.Context(), program), "0.12.0") {
		assert.Len(t, everything(t, w.base+"/out")[1:], 1, "on the way: a folder is made on the host")
	}
}

// probeIsland does what the process that starts the command does first: it compares what stands at the path with what was mounted.
func probeIsland([]string) int {
	var islands []Island
	if err := json.NewDecoder(os.NewFile(3, "orders")).Decode(&islands); err != nil {
		fmt.Println(err)
		return 1
	}
	for _, i := range islands {
		if i.Writable {
			continue
		}
		fd, err := unix.Open(i.Path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
		var st unix.Stat_t
		var fs unix.Statfs_t
		if err != nil || unix.Fstat(fd, &st) != nil || unix.Fstatfs(fd, &fs) != nil || st.Dev != i.Dev || st.Ino != i.Ino || fs.Flags&unix.ST_RDONLY == 0 {
			fmt.Println("refused")
			return 0
		}
		if f, err := unix.Openat(fd, "planted", unix.O_CREAT|unix.O_WRONLY, 0o600); err == nil {
			unix.Close(f)
			fmt.Println("written")
			return 0
		}
	}
	fmt.Println("sound")
	return 0
}

// everything is a picture of a folder: names, kinds, times and content.
func everything(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		data, _ := os.ReadFile(path)
		out = append(out, fmt.Sprint(path, info.Mode(), info.ModTime(), string(data)))
		return nil
	}))
	return out
}

func TestFoldersAreOpenedStepByStepWhereTheKernelIsOld(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(base+"/a/b", 0o755))
	require.NoError(t, os.Symlink("a", base+"/l"))
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	fd, err := openSteps(unix.AT_FDCWD, base+"/a/b", flags)
	require.NoError(t, err)
	to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	require.NoError(t, err)
	assert.Equal(t, base+"/a/b", to)
	require.NoError(t, unix.Close(fd))
	for _, path := range []string{base + "/l/b", base + "/a/none"} {
		_, err = openSteps(unix.AT_FDCWD, path, flags)
		assert.Error(t, err, path)
	}
}
