package launcher

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each way from the notebook's folder to the host is played to its end here: what the host does with the folder afterwards is done, once with the measure
// lifted and once with it in place.

// with is the built-in policy with one thing changed.
func with(change func(*Config)) *Config {
	c := DefaultConfig()
	change(c)
	return c
}

func linksAllowed(c *Config) { c.Sandbox.Links = "allow" }

// writes lifts the island of a folder, as a grant of exactly that folder does.
func writes(path string) func(*Config) {
	return func(c *Config) { c.Sandbox.Write = append(c.Sandbox.Write, path) }
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
	return path
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// attempt runs code inside and says "done", or the name of the error that it met.
func attempt(t *testing.T, s Spec, code string) string {
	t.Helper()
	body := "import errno, os, sys\ntry:\n    " + strings.ReplaceAll(strings.TrimSpace(code), "\n", "\n    ") +
		"\n    print('done')\nexcept OSError as e:\n    print(errno.errorcode[e.errno])\n"
	out, exit := python(t, s, body)
	require.Zero(t, exit.Code, out)
	return out[strings.LastIndexByte(out, '\n')+1:]
}

// serverSave is what a Jupyter server does when somebody saves the notebook that is open, in one folder after the other: loading it takes longest.
const serverSave = `import sys
from jupyter_server.services.contents.filemanager import FileContentsManager
content = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
for folder in sys.argv[1:]:
    FileContentsManager(root_dir=folder).save({"type": "notebook", "content": content}, "analysis.ipynb")
`

func TestASaveThroughAPlantedLink(t *testing.T) {
	plant := func(policy *Config) (said, nb, target string) {
		nb = folder(t)
		write(t, nb+"/analysis.ipynb", "{}", 0o644)
		target = write(t, folder(t)+"/.bashrc", "# mine\n", 0o644)
		return attempt(t, Spec{Folder: nb, Config: policy}, "os.remove('analysis.ipynb')\nos.symlink('"+target+"', 'analysis.ipynb')"), nb, target
	}
	said, control, led := plant(with(linksAllowed))
	require.Equal(t, "done", said)
	said, held, spared := plant(nil)
	assert.Contains(t, []string{"EACCES", "EPERM"}, said)

	out, err := exec.CommandContext(within(t, 2*time.Minute), toolsPython(t), "-c", serverSave, control, held).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, text(t, led), "nbformat", "the control: the server writes where the link leads")
	assert.Equal(t, "# mine\n", text(t, spared))
}

// toolsPython has a Jupyter server.
func toolsPython(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("KERNEL_LAUNCH_TEST_PYTHON"); path != "" {
		return path
	}
	path, err := filepath.Abs("../.tools/venv/bin/python")
	require.NoError(t, err)
	return path
}

// gitStatus is what a shell's prompt or an editor does in the folder.
func gitStatus(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(within(t, time.Minute), "git", "-C", dir, "status")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	cmd.Run() // what the planted program answers is no valid answer
}

func TestAProgramThatGitRuns(t *testing.T) {
	play := func(change func(dir string) *Config) (said string, ran bool) {
		nb := folder(t)
		proof := folder(t) + "/ran"
		out, err := exec.CommandContext(within(t, time.Minute), "git", "init", "-q", nb).CombinedOutput()
		require.NoError(t, err, "%s", out)
		said = attempt(t, Spec{Folder: nb, Config: change(nb)}, "open('.git/config', 'a').write('[core]\\n\\tfsmonitor = \"touch "+proof+"; false\"\\n')")
		gitStatus(t, nb)
		_, err = os.Stat(proof)
		return said, err == nil
	}
	said, ran := play(func(dir string) *Config { return with(writes(dir + "/.git")) })
	require.Equal(t, "done", said)
	require.True(t, ran, "the control: git runs what its configuration names")

	said, ran = play(func(string) *Config { return nil })
	assert.Equal(t, "EROFS", said)
	assert.False(t, ran)
}

func TestTheIslandCannotBePutAside(t *testing.T) {
	nb := folder(t)
	write(t, nb+"/.git/config", "[core]\n", 0o644)
	for _, code := range []string{
		"os.rename('.git', 'old')", "import shutil\nshutil.rmtree('.git')", "os.rmdir('.git')", "os.mkdir('new')\nos.rename('new', '.git')", "os.symlink('/tmp', '.git')",
		"os.rename('../" + filepath.Base(nb) + "', '../elsewhere')", "os.chmod('.git', 0o777)", "os.link('.git/config', 'config')\nopen('config', 'a').write('x')",
	} {
		assert.NotEqual(t, "done", attempt(t, Spec{Folder: nb}, code), code)
	}
	assert.Equal(t, "[core]\n", text(t, nb+"/.git/config"))
}

func TestAnEditInAHardlinkedEnvironment(t *testing.T) {
	play := func(change func(dir string) *Config) (said, theirs string) {
		nb, other := folder(t), folder(t)
		module := write(t, other+"/.venv/lib/module.py", "value = 1\n", 0o644)
		require.NoError(t, os.MkdirAll(nb+"/.venv/lib", 0o755))
		require.NoError(t, os.Link(module, nb+"/.venv/lib/module.py"))
		said = attempt(t, Spec{Folder: nb, Config: change(nb)}, "open('.venv/lib/module.py', 'w').write('value = 2\\n')")
		return said, text(t, module)
	}
	said, theirs := play(func(dir string) *Config { return with(writes(dir + "/.venv")) })
	require.Equal(t, "done", said)
	require.Equal(t, "value = 2\n", theirs, "the control: both projects have the same file")

	said, theirs = play(func(string) *Config { return nil })
	assert.Equal(t, "EROFS", said)
	assert.Equal(t, "value = 1\n", theirs)
}

// setID plants programs that run with their owner's rights, by every call that can.
const setID = `for n, plant in enumerate((
    lambda p: os.chmod(p, 0o4755),
    lambda p: os.chmod(p, 0o2755),
    lambda p: os.fchmod(os.open(p, os.O_RDONLY), 0o6755),
    lambda p: os.chmod(os.path.basename(p), 0o4755, dir_fd=os.open(os.path.dirname(p), os.O_RDONLY)),
    lambda p: os.open(p + '.new', os.O_CREAT | os.O_WRONLY, 0o4755),
    lambda p: os.mknod(p + '.new', 0o104755),
)):
    path = os.path.join(os.getcwd(), f'tool{n}')
    open(path, 'wb').write(open('/usr/bin/id', 'rb').read())
    os.chmod(path, 0o755)
    try: plant(path); print('planted', n)
    except OSError as e: print(e)
`

func TestAProgramThatRunsAsItsOwner(t *testing.T) {
	marked := func(dir string) (found []string) {
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, f := range files {
			if info, err := f.Info(); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
				found = append(found, f.Name())
			}
		}
		return found
	}
	outside, err := os.MkdirTemp("/var/tmp", "kernel-launch-ways-") // another user must get at it
	require.NoError(t, err)
	defer os.RemoveAll(outside)
	require.NoError(t, os.Chmod(outside, 0o755))
	cmd := exec.CommandContext(within(t, time.Minute), systemPython, "-ISc", "import os\nos.umask(0o022)\n"+setID)
	cmd.Dir = outside
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Len(t, marked(outside), 6, "the control: outside, all of them do: %s", out)
	if os.Geteuid() == 0 { // only root can be somebody else for a moment
		id := exec.CommandContext(within(t, time.Minute), outside+"/tool0")
		id.Dir = "/"
		id.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := id.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "euid=0", "the control: another user becomes its owner")
	}

	nb := folder(t)
	said, exit := python(t, Spec{Folder: nb}, "import os\n"+setID)
	require.Zero(t, exit.Code, said)
	assert.NotContains(t, said, "planted", said)
	assert.Empty(t, marked(nb), said)
}

// TestAnIslandThatIsSwappedBetweenTwoStarts: whatever stands at an island's path when the next kernel starts, what it leads to is not touched.
func TestAnIslandThatIsSwappedBetweenTwoStarts(t *testing.T) {
	nb, victim := folder(t), folder(t)
	precious := write(t, victim+"/config", "precious\n", 0o644)
	git := nb + "/.git"
	stand := map[string]func(){
		"a folder":           func() { write(t, git+"/config", "[core]\n", 0o644) },
		"a link":             func() { require.NoError(t, os.Symlink(victim, git)) },
		"a link to nowhere":  func() { require.NoError(t, os.Symlink(victim+"/new", git)) },
		"a file":             func() { write(t, git, "gitdir: "+victim+"\n", 0o644) },
		"a link to the root": func() { require.NoError(t, os.Symlink("/", git)) },
	}
	for range 2 {
		for name, put := range stand {
			require.NoError(t, os.RemoveAll(git))
			put()
			said := attempt(t, Spec{Folder: nb}, "open('.git/config', 'a').write('x')")
			assert.NotEqual(t, "done", said, name)
			files, err := os.ReadDir(victim)
			require.NoError(t, err)
			assert.Len(t, files, 1, name)
			assert.Equal(t, "precious\n", text(t, precious), name)
		}
	}
}

// swapping is a bubblewrap in whose last moment before it builds the view a folder is exchanged for another.
func swapping(t *testing.T, program, path, other string) string {
	t.Helper()
	script := fmt.Sprintf("#!/bin/sh\n/bin/mv %[2]s %[2]s-away && /bin/mv %[3]s %[2]s\nexec %[1]s \"$@\"\n", program, path, other)
	return write(t, folder(t)+"/bwrap", script, 0o755)
}

// TestAFolderThatIsSwappedWhileAKernelStarts: a kernel that works in a folder around another's can rename what lies in it, and the link that came with it.
func TestAFolderThatIsSwappedWhileAKernelStarts(t *testing.T) {
	around, victim := folder(t), folder(t)
	write(t, victim+"/key", "secret", 0o644)
	nb := around + "/part/notebooks"
	require.NoError(t, os.MkdirAll(nb, 0o755))
	require.NoError(t, os.MkdirAll(around+"/other", 0o755))
	require.NoError(t, os.Symlink(victim, around+"/other/notebooks"))
	require.NoError(t, MakeDefault())
	var said bytes.Buffer
	p, err := Spec{Environment: "default", Folder: nb, Command: []string{"/bin/ls"}, Stdout: &said, Raw: true}.Plan()
	require.NoError(t, err)
	p.Sandbox.Program = swapping(t, p.Sandbox.Program, around+"/part", around+"/other")
	k, err := Start(within(t, time.Minute), p)
	if err == nil {
		k.Wait()
	}
	var failed *ProgramError
	require.ErrorAs(t, err, &failed, said.String())
	assert.Equal(t, "islands", failed.Stage)
	assert.Contains(t, failed.Problem, nb+" is not what was to be shown there")
}

// TestAnIslandThatIsSwappedWhileKernelsStart swaps by rename, which takes no time, so that every moment of a start is met.
func TestAnIslandThatIsSwappedWhileKernelsStart(t *testing.T) {
	nb, victim := folder(t), folder(t)
	precious := write(t, victim+"/config", "precious\n", 0o644)
	write(t, nb+"/.git/config", "[core]\n", 0o644)
	require.NoError(t, os.Symlink(victim, nb+"/link"))
	end, swaps := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-end:
				swaps <- n
				return
			default:
			}
			os.Rename(nb+"/.git", nb+"/real")
			os.Rename(nb+"/link", nb+"/.git")
			os.Rename(nb+"/.git", nb+"/link")
			os.Rename(nb+"/real", nb+"/.git")
			n++
		}
	}()
	started := 0
	for i := range 20 {
		s := Spec{Environment: "default", Folder: nb, Command: []string{systemPython, "-ISc", "import sys\nfor p in ('.git', 'link'):\n    try: open(p + '/planted" + strconv.Itoa(i) + "', 'w')\n    except OSError: pass\n"}}
		if k, err := try(t, s); err == nil {
			k.Wait()
			started++
		}
	}
	close(end)
	assert.Positive(t, <-swaps)
	assert.Positive(t, started, "not every start may fail")
	files, err := os.ReadDir(victim)
	require.NoError(t, err)
	assert.Len(t, files, 1, "nothing was written through the link")
	assert.Equal(t, "precious\n", text(t, precious))
}
