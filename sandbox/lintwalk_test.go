package sandbox

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree is a folder with a socket and a file of two names below its top level.
func tree(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("files of several names are not looked for there")
	}
	base, err := os.MkdirTemp("", "lint") // a socket's path has at most 107 bytes
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	base, err = filepath.EvalSymlinks(base)
	require.NoError(t, err)
	root := base + "/w"
	for _, d := range []string{"/a/b", "/.git", "/within"} {
		require.NoError(t, os.MkdirAll(root+d, 0o755))
	}
	file := func(path, other string) {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Link(path, other))
	}
	file(base+"/elsewhere", root+"/a/b/shared")
	file(base+"/elsewhere2", root+"/.git/shared")
	file(root+"/within/one", root+"/within/two")
	l, err := net.Listen("unix", root+"/a/s.sock")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return root
}

func lintOf(ctx context.Context, roots ...lintRoot) string {
	var out []string
	Lint(ctx, &Plan{lint: roots}, func(s string) { out = append(out, s) })
	return strings.Join(out, "\n")
}

func TestLintLooksBelowTheTopLevel(t *testing.T) {
	root := tree(t)
	got := lintOf(t.Context(), lintRoot{use: "write", path: root, write: true, skip: []string{root + "/.git"}})
	assert.Equal(t, "write "+root+" holds sockets, whose listeners can be commanded from inside: a/s.sock\n"+
		"write "+root+" holds files that have another name elsewhere, which a write inside changes as well: a/b/shared", got)
	assert.NotContains(t, lintOf(t.Context(), lintRoot{use: "read", path: root}), "another name", "what cannot be written there cannot be changed")
	assert.NotContains(t, lintOf(t.Context(), lintRoot{use: "folder", path: root, write: true}), "socket", "they are the user's own")
	assert.Empty(t, lintOf(t.Context(), lintRoot{use: "read", path: root + "/gone"}))
}

func TestLintCanBeStoppedAndGivesUp(t *testing.T) {
	root := tree(t)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Empty(t, lintOf(stopped, lintRoot{use: "write", path: root, write: true}))
	left := 3
	w := &lintWalk{root: lintRoot{use: "write", path: root, write: true}, left: &left, names: map[inode]int{}, linked: map[inode]string{}}
	require.True(t, w.begin())
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error { return w.visit(t.Context(), path, d, err) }))
	var told []string
	w.tell(func(s string) { told = append(told, s) })
	assert.Equal(t, []string{"write " + root + " holds more than was looked at for sockets and files with other names"}, told)
}

func TestWhatIsWalked(t *testing.T) {
	f := machine("/w", "/w/.git", "/w/sub", "/d", "/d/out", "/x!")
	plan := compile(t, Policy{Folder: "/w", Read: []string{"/d", "/x"}, Write: []string{"/d/out", "/w/sub"}}, f)
	assert.Equal(t, []lintRoot{
		{use: "read", path: "/d", skip: []string{"/d/out"}},
		{use: "write", path: "/d/out", write: true},
		{use: "folder", path: "/w", write: true, skip: []string{"/w/.git"}},
	}, plan.lint)
}

func TestLintOfTheTopLevel(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(base+"/w/in", 0o755))
	for name, to := range map[string]string{"out": "../far", "far": "/usr", "near": "in", "round": "../w/in", "self": "."} {
		require.NoError(t, os.Symlink(to, base+"/w/"+name))
	}
	assert.Equal(t, []string{"far", "out"}, newLook().lint(base+"/w", Entry{}).Outward)
}
