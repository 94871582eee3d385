package launcher

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func put(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// sentences are what is said about one change of a folder.
func sentences(t testing.TB, dir string, sealed map[string]bool, change func()) []string {
	t.Helper()
	before := notes{dir: note(dir, sealed)}
	change()
	return changes(before, notes{dir: note(dir, sealed)})
}

func TestWhatOthersObeyIsNoticed(t *testing.T) {
	for name, want := range map[string]string{
		".envrc": "direnv", ".Rprofile": "R runs it", "jupyter_server_config.py": "Jupyter", "jupyter_notebook_config.json": "Jupyter", "conftest.py": "pytest",
		".git/config": "git runs", ".venv/bin/python": "interpreter", ".vscode/tasks.json": "editors", "uv.toml": "uv", ".mcp.json": "AI agents",
	} {
		dir := t.TempDir()
		top, _, _ := cutPath(name)
		got := sentences(t, dir, nil, func() { put(t, filepath.Join(dir, name), "one") })
		require.Len(t, got, 1, name)
		assert.Contains(t, got[0], filepath.Join(dir, top)+" is new", name)
		assert.Contains(t, got[0], want, name)
	}
}

func cutPath(name string) (top, rest string, found bool) {
	for i := range name {
		if name[i] == '/' {
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}

// TestAFolderFullOfNamesHidesNone: in memory a folder's newest names come first, so that the file is beyond those that are listed.
func TestAFolderFullOfNamesHidesNone(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "kernel-launch")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	got := sentences(t, dir, nil, func() {
		put(t, filepath.Join(dir, "jupyter_server_config.py"), "c.ServerApp.ip = '*'")
		for i := range maxNames + 10 {
			require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600))
		}
	})
	require.Len(t, got, 1)
	assert.Contains(t, got[0], "jupyter_server_config.py is new")
}

func TestWhatNobodyObeysIsNot(t *testing.T) {
	dir := t.TempDir()
	assert.Empty(t, sentences(t, dir, nil, func() {
		for _, name := range []string{"study.ipynb", "data/.envrc", "config.py", "my_jupyter_config.py.txt", "figure.png"} {
			put(t, filepath.Join(dir, name), "x")
		}
	}))
}

func TestAChangeThatHidesIsNoticed(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"same size, time set back": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			time.Sleep(20 * time.Millisecond) // the file system's clock ticks
			put(t, path, "two")
			require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
		"another file in its place": func(t *testing.T, path string) {
			put(t, path+".new", "one")
			require.NoError(t, os.Rename(path+".new", path))
		},
		"a link in its place": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Symlink("/etc/hosts", path))
		},
		"can be executed": func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o755)) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, ".envrc")
		put(t, path, "one")
		assert.Empty(t, sentences(t, dir, nil, func() {}), "the control: nothing happened")
		got := sentences(t, dir, nil, func() { change(t, path) })
		require.Len(t, got, 1, name)
		assert.Contains(t, got[0], "was changed", name)
	}
}

func TestFoldersAreComparedOneLevelDeep(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/.vscode/settings.json", "{}")
	put(t, dir+"/.git/config", "")
	change := func() {
		put(t, dir+"/.vscode/settings.json", "{ }")
		put(t, dir+"/.git/index", "the host's own git")
	}
	got := sentences(t, dir, nil, change)
	require.Len(t, got, 1)
	assert.Contains(t, got[0], ".vscode was changed")
	os.RemoveAll(dir + "/.vscode")
	put(t, dir+"/.vscode/settings.json", "{}")
	assert.Empty(t, sentences(t, dir, map[string]bool{dir + "/.vscode": true}, change), "a read-only island was changed by somebody else")
}

func TestOneEndIsReportedInAFewLines(t *testing.T) {
	dir := t.TempDir()
	got := sentences(t, dir, nil, func() {
		for _, o := range obeyedNames {
			put(t, filepath.Join(dir, o.names[0]), "x")
		}
	})
	require.Len(t, got, maxReported+1)
	assert.Contains(t, got[maxReported], "more files")
}

func TestNamesCannotForgeALine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a\nb\x1b[2J")
	require.NoError(t, os.Mkdir(dir, 0o755))
	got := sentences(t, dir, nil, func() { put(t, dir+"/.envrc", "x") })
	require.Len(t, got, 1)
	assert.NotContains(t, got[0], "\n")
	assert.NotContains(t, got[0], "\x1b")
}

func TestWhatABrokenOffToolLeavesIsExplained(t *testing.T) {
	dir := t.TempDir()
	before := notes{dir: note(dir, nil)}
	put(t, dir+"/env/pyvenv.cfg", "")
	put(t, dir+"/node_modules/.package-lock.json", "{}")
	put(t, dir+"/data/table.csv", "")
	put(t, dir+"/broken/lib/python3.11/x", "")
	put(t, dir+"/broken/include/x", "")
	put(t, dir+"/clone/.git/config", "[core]\n\tsymlinks = false\n")
	left := remnants(appeared(before, notes{dir: note(dir, nil)}))
	require.Len(t, left, 4)
	got := unfinished(left, dir)
	require.Len(t, got, 1)
	assert.Contains(t, got[0], dir+"/env is an environment without its interpreter")
	assert.Contains(t, got[0], `folders: {"`+dir+`": {sandbox: {links: allow}}}`)
	put(t, dir+"/env/bin/python", "")
	assert.Len(t, remnants([]string{dir + "/env", dir + "/data"}), 0)
	assert.Empty(t, unfinished(nil, dir))
}

func TestAKernelsNotesComeWithItsEnd(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/.envrc", "one")
	more := folder(t)
	k := launch(t, Spec{Folder: dir, Overrides: Overrides{Write: []string{more}}, Command: []string{"sh", "-c", "echo two > .envrc; echo x > " + more + "/.Rprofile; echo x > $HOME/.Rprofile"}})
	exit := k.Wait()
	require.Zero(t, exit.Code, exit.Output)
	require.Len(t, exit.Notes, 2, "%q: what it keeps for itself is nobody else's", exit.Notes)
	assert.Contains(t, exit.Notes[0]+exit.Notes[1], dir+"/.envrc was changed")
	assert.Contains(t, exit.Notes[0]+exit.Notes[1], more+"/.Rprofile is new")
}

func TestAKernelThatHasEndedIsRemembered(t *testing.T) {
	_, variable := runtimeDir(t)
	dir := folder(t)
	k := launch(t, Spec{Folder: dir, Environ: append(os.Environ(), variable)})
	id, d := k.ID(), k.Plan().host.dirs
	put(t, dir+"/.envrc", "somebody's")
	k.Kill()
	e := remembered(t, k, id)
	assert.Equal(t, Over, e.State)
	assert.Equal(t, ReasonStopped, e.Reason)
	assert.Equal(t, "the kernel was stopped", e.Text)
	assert.Equal(t, dir, e.Folder)
	require.Len(t, e.Notes, 1)
	assert.Contains(t, e.Notes[0], ".envrc is new")
	info, err := os.Stat(filepath.Join(endedDir(d), id+".json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func remembered(t testing.TB, k *Kernel, id string) Ended {
	t.Helper()
	all, err := EndedKernels(k.Plan().host.dirs)
	require.NoError(t, err)
	for _, e := range all {
		if e.ID == id {
			return e
		}
	}
	t.Fatalf("kernel %s is not among the %d that ended", id, len(all))
	return Ended{}
}

func TestAKernelWhoseLauncherWasKilledIsRemembered(t *testing.T) {
	_, variable := runtimeDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable, "KERNEL_LAUNCH_TEST=register")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	h, err := Spec{Environ: append(os.Environ(), variable)}.host()
	require.NoError(t, err)
	running, err := Kernels(h.dirs)
	require.NoError(t, err)
	require.Len(t, running, 1)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	left, err := Kernels(h.dirs)
	require.NoError(t, err)
	require.Empty(t, left)
	all, err := EndedKernels(h.dirs)
	require.NoError(t, err)
	var found []Ended
	for _, e := range all {
		if e.ID == running[0].ID {
			found = append(found, e)
		}
	}
	require.Len(t, found, 1)
	assert.Equal(t, ReasonLost, found[0].Reason)
	assert.Equal(t, "the kernel's launcher was killed", found[0].Text)
}

func TestOnlyTheNewestAreKept(t *testing.T) {
	h, err := Spec{Environ: []string{"HOME=" + folder(t)}}.host()
	require.NoError(t, err)
	for i := range keptEnded + 3 {
		e := endedOf(Record{ID: string(rune('a'+i/26)) + string(rune('a'+i%26))}, Exit{Reason: ReasonExited})
		e.keep(h.dirs)
		at := time.Now().Add(time.Duration(i-100) * time.Minute)
		require.NoError(t, os.Chtimes(filepath.Join(endedDir(h.dirs), e.ID+".json"), at, at))
	}
	all, err := EndedKernels(h.dirs)
	require.NoError(t, err)
	require.Len(t, all, keptEnded)
	assert.Equal(t, "ad", all[0].ID, "the three oldest have gone")
}
