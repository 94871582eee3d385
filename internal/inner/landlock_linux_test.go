package inner

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// folder is one that others act on: not below /tmp, where links are allowed and which a rule reaches through every mount.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "inner")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// makings try to make, move and link things in the folder argv[1]; argv[2] is a private folder on another mount. They print the errno of each.
const makings = `import errno, json, os, socket, stat, sys
d, tmp = sys.argv[1:]
os.chdir(d)
for n in 'a', 'b', 'a/moves', 'a/full': os.mkdir(n)
for n in 'file', 'a/file', 'a/linked', 'a/full/file', tmp + '/file': open(n, 'w').close()
def bound(p):
    s = socket.socket(socket.AF_UNIX)
    s.bind(p)
def nameless(p):
    f = os.open('.', os.O_TMPFILE | os.O_RDWR)
    os.link(f'/proc/self/fd/{f}', p, src_dir_fd=f, follow_symlinks=True)
def exchange(a, b):
    import ctypes
    if ctypes.CDLL(None, use_errno=True).renameat2(-100, a.encode(), -100, b.encode(), 2): raise OSError(ctypes.get_errno(), a)
result = {}
for name, do in {
    'symlink': lambda: os.symlink('/etc/passwd', 'new'),
    'symlink below': lambda: os.symlink('..', 'b/new'),
    'fifo': lambda: os.mkfifo('fifo'),
    'socket': lambda: bound('socket'),
    'device': lambda: os.mknod('device', stat.S_IFCHR | 0o600, 0),
    'rename a symlink': lambda: os.rename('old', 'older'),
    'move a symlink': lambda: os.rename('old2', 'a/older'),
    'link a symlink': lambda: os.link('old3', 'oldest', follow_symlinks=False),
    'exchange a symlink': lambda: exchange('old4', 'a/file'),
    'move a pipe': lambda: os.rename('pipe', 'a/pipe'),
    'remove a symlink': lambda: os.remove('old5'),
    'private symlink': lambda: os.symlink('/etc/passwd', tmp + '/new'),
    'private fifo': lambda: os.mkfifo(tmp + '/fifo'),
    'private socket': lambda: bound(tmp + '/socket'),
    'move in a symlink': lambda: os.rename(tmp + '/new', 'moved'),
    'move in a folder': lambda: os.rename(tmp, 'moved'),
    'link in a file': lambda: os.link(tmp + '/file', 'linked'),
    'move a file': lambda: os.rename('file', 'b/file'),
    'move a folder': lambda: os.rename('a/full', 'b/full'),
    'replace a file': lambda: os.rename('b/file', 'a/linked'),
    'link a file': lambda: os.link('a/linked', 'hard'),
    'link a file below': lambda: os.link('a/linked', 'b/hard'),
    'link a nameless file': lambda: nameless('named'),
    'make a folder': lambda: os.mkdir('folder'),
    'rename a folder': lambda: os.rename('folder', 'folder2'),
}.items():
    try:
        do()
        result[name] = ''
    except OSError as e: result[name] = errno.errorcode[e.errno]
print(json.dumps(result))`

// planted is a folder that holds links from before.
func planted(t *testing.T) string {
	dir := folder(t)
	for _, name := range []string{"old", "old2", "old3", "old4", "old5"} {
		require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, name)))
	}
	require.NoError(t, exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run())
	return dir
}

func results(t *testing.T, out string) (r map[string]string) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(out), &r), out)
	return r
}

func (j *jail) makings(t *testing.T, dir string, w *link.Landlock) map[string]string {
	t.Helper()
	require.NoError(t, j.Start(short(t), link.Order{
		Argv: []string{"/usr/bin/python3", "-uISc", makings, dir, "/mnt"}, Env: []string{"PATH=/usr/bin"}, Dir: "/", Landlock: w,
	}))
	out, _ := j.wait(t)
	return results(t, out)
}

func TestNoLinkIsMadeWhereOthersFollowIt(t *testing.T) {
	plain := planted(t)
	control := jailed(t, "--tmpfs", "/mnt", "--bind", plain, plain).makings(t, plain, nil)
	walled := planted(t)
	got := jailed(t, "--tmpfs", "/mnt", "--bind", walled, walled).makings(t, walled,
		&link.Landlock{RefuseLinks: true, Links: []string{"/mnt", "/no/such/folder"}})

	for _, name := range []string{
		"symlink", "symlink below", "fifo", "socket", "device", "rename a symlink", "move a symlink", "link a symlink", "exchange a symlink", "move a pipe",
	} {
		assert.Empty(t, control[name], "%s: the control", name)
		assert.Equal(t, "EACCES", got[name], name)
	}
	for _, name := range []string{"move in a symlink", "move in a folder", "link in a file"} {
		assert.Contains(t, []string{"EXDEV", "EBUSY"}, control[name], name)
		assert.Contains(t, []string{"EXDEV", "EBUSY"}, got[name], name)
	}
	for _, name := range []string{
		"remove a symlink", "private symlink", "private fifo", "private socket", "move a file", "move a folder", "replace a file", "link a file",
		"link a file below", "link a nameless file", "make a folder", "rename a folder",
	} {
		assert.Empty(t, control[name], "%s: the control", name)
		assert.Empty(t, got[name], name)
	}
	assert.Len(t, got, 25)
	assert.NoFileExists(t, walled+"/new")
}

// A child of the program, and its child, are held to the same; this process is not.
func TestWallsAreInherited(t *testing.T) {
	dir := folder(t)
	j := jailed(t, "--bind", dir, dir)
	require.NoError(t, j.Start(short(t), link.Order{
		Argv: []string{"/bin/sh", "-c", "ln -s / one; sh -c 'ln -s / two'; setsid sh -c 'ln -s / three'; ls | wc -l"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: dir,
		Landlock: &link.Landlock{RefuseLinks: true},
	}))
	out, exit := j.wait(t)
	assert.Zero(t, exit.Status)
	assert.Equal(t, 3, strings.Count(out, "Permission denied"), out)
	assert.True(t, strings.HasSuffix(out, "\n0"), out)
}

const abstract = `import errno, socket, sys
for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
    s = socket.socket(socket.AF_UNIX, kind)
    print(errno.errorcode.get(s.connect_ex('\0' + sys.argv[1] + str(kind.value)), 'connected'))
a, b = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
a.bind('\0own' + sys.argv[1]); a.listen(1)
print(errno.errorcode.get(b.connect_ex('\0own' + sys.argv[1]), 'connected'))`

func TestAbstractSocketsOfTheHostAreOutOfReach(t *testing.T) {
	name := "kernel-launch-test-" + filepath.Base(folder(t))
	l, err := net.Listen("unix", "@"+name+"1")
	require.NoError(t, err)
	defer l.Close()
	d, err := net.ListenPacket("unixgram", "@"+name+"2")
	require.NoError(t, err)
	defer d.Close()
	for _, c := range []struct {
		walls *link.Landlock
		want  string
	}{
		{nil, "connected\nconnected\nconnected"},
		{&link.Landlock{RefuseLinks: true}, "connected\nconnected\nconnected"},
		{&link.Landlock{ScopeAbstract: true}, "EPERM\nEPERM\nconnected"},
		{&link.Landlock{ScopeAbstract: true, RefuseLinks: true}, "EPERM\nEPERM\nconnected"},
	} {
		j := jailed(t, "--share-net")
		require.NoError(t, j.Start(short(t), link.Order{
			Argv: []string{"/usr/bin/python3", "-uISc", abstract, name}, Env: []string{"PATH=/usr/bin"}, Dir: "/", Landlock: c.walls,
		}))
		out, _ := j.wait(t)
		assert.Equal(t, c.want, out, c.walls)
	}
}

func TestWallsThatCannotBePutUpEndTheStart(t *testing.T) {
	dir := folder(t)
	require.NoError(t, os.Symlink("/", filepath.Join(dir, "everything")))
	err := jailed(t).Start(short(t), link.Order{
		Argv: []string{"/bin/true"}, Dir: "/", Landlock: &link.Landlock{RefuseLinks: true, Links: []string{dir + "/everything"}},
	})
	var failed *link.FailedError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "landlock", failed.Stage)
	assert.Contains(t, failed.Text, "everything for a landlock rule: not a directory")
}

func TestNeeded(t *testing.T) {
	assert.Equal(t, 2, needed(&link.Landlock{RefuseLinks: true}))
	assert.Equal(t, 6, needed(&link.Landlock{RefuseLinks: true, ScopeAbstract: true}))
	assert.GreaterOrEqual(t, landlockABI(), 2, "these tests need it")
}
