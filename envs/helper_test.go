package envs

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const systemPython = "/usr/bin/python3"

// private is a temporary folder that only we can enter, as $DATA is.
func private(t testing.TB) string {
	t.Helper()
	d := t.TempDir()
	require.NoError(t, os.Chmod(d, 0o700))
	return d
}

// newStore is a store whose tools run in bubblewrap. They share the host's loopback; the launcher gives them one listener.
func newStore(t testing.TB) *Store {
	t.Helper()
	base := private(t)
	s := &Store{Root: filepath.Join(base, "envs"), Work: filepath.Join(base, "install"), Cache: filepath.Join(base, "cache"), UV: UVOff}
	s.Getenv = func(k string) string {
		return map[string]string{"PATH": "/usr/bin:/bin", "HOME": base}[k]
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var index http.Handler
	var mu sync.Mutex
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := index
		mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	s.Gateway = server.URL
	s.Exec = func(ctx context.Context, tool Tool) error {
		mu.Lock()
		index = tool.Index
		mu.Unlock()
		return bubblewrap(ctx, tool)
	}
	return s
}

func bubblewrap(ctx context.Context, tool Tool) error {
	args := []string{
		"--unshare-all", "--share-net", "--die-with-parent", "--new-session", "--clearenv", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
	}
	for _, b := range tool.ReadOnly {
		args = append(args, "--ro-bind", b.Source, b.Target)
	}
	for _, b := range tool.Writable {
		args = append(args, "--bind", b.Source, b.Target)
	}
	for _, kv := range tool.Env {
		k, v, _ := strings.Cut(kv, "=")
		args = append(args, "--setenv", k, v)
	}
	args = append(append(args, "--chdir", tool.Dir, "--remount-ro", "/", "--"), tool.Argv...)
	cmd := exec.CommandContext(ctx, "bwrap", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{"PATH=/usr/bin:/bin"}, tool.Stdout, tool.Stderr
	err := cmd.Run()
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		return &ToolError{Argv: tool.Argv, Status: ee.ExitCode()}
	}
	return err
}

// wheel makes a wheel in memory. requires are its Requires-Dist lines.
func wheel(t testing.TB, name, version string, requires []string, files map[string]string) (string, []byte) {
	t.Helper()
	info := name + "-" + version + ".dist-info/"
	all := map[string]string{name + "/__init__.py": fmt.Sprintf("VERSION = %q\n", version)}
	if files != nil {
		all = map[string]string{}
	}
	for k, v := range files {
		all[k] = v
	}
	meta := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"
	for _, r := range requires {
		meta += "Requires-Dist: " + r + "\n"
	}
	all[info+"METADATA"] = meta
	all[info+"WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
	var names []string
	for k := range all {
		names = append(names, k)
	}
	sort.Strings(names)
	record := ""
	for _, k := range names {
		sum := sha256.Sum256([]byte(all[k]))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", k, base64.RawURLEncoding.EncodeToString(sum[:]), len(all[k]))
	}
	all[info+"RECORD"] = record + info + "RECORD,,\n"
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, k := range append(names, info+"RECORD") {
		w, err := z.Create(k)
		require.NoError(t, err)
		_, err = w.Write([]byte(all[k]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return name + "-" + version + "-py3-none-any.whl", b.Bytes()
}

// fakeIndex is a package index on loopback.
type fakeIndex struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string][]byte
	seen  []*http.Request
	// Answer, when set, may answer itself; true: it did.
	Answer func(w http.ResponseWriter, r *http.Request) bool
}

func newIndex(t testing.TB) *fakeIndex {
	t.Helper()
	x := &fakeIndex{files: map[string][]byte{}}
	x.Server = httptest.NewServer(x)
	t.Cleanup(x.Server.Close)
	return x
}

func (x *fakeIndex) put(name string, data []byte) { x.files[name] = data }

func (x *fakeIndex) simple() string { return x.URL + "/simple" }

func (x *fakeIndex) requests() []*http.Request {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]*http.Request(nil), x.seen...)
}

func (x *fakeIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	x.seen = append(x.seen, r.Clone(context.WithoutCancel(r.Context())))
	x.mu.Unlock()
	if x.Answer != nil && x.Answer(w, r) {
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/packages/"); ok {
		data, ok := x.files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, name, modTime, bytes.NewReader(data))
		return
	}
	project := strings.Trim(strings.TrimPrefix(r.URL.Path, "/simple/"), "/")
	page := ""
	for name, data := range x.files {
		if normalName(strings.SplitN(name, "-", 2)[0]) == project {
			sum := sha256.Sum256(data)
			page += fmt.Sprintf("<a href=\"../../packages/%s#sha256=%s\">%s</a>\n", name, hex.EncodeToString(sum[:]), name)
		}
	}
	if page == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<!DOCTYPE html><html><body>"+page+"</body></html>")
}

// kernelIndex has a tiny ipykernel and what it needs.
func kernelIndex(t testing.TB) *fakeIndex {
	t.Helper()
	x := newIndex(t)
	x.put(wheel(t, "ipykernel", "7.0", []string{"jupyter_client>=8"}, map[string]string{
		"ipykernel/__init__.py": "", "ipykernel_launcher.py": "print('tiny')\n",
		"ipykernel-7.0.dist-info/entry_points.txt":                    "[console_scripts]\ntinykernel = ipykernel_launcher:main\n",
		"ipykernel-7.0.data/data/share/jupyter/kernels/x/kernel.json": "{}",
	}))
	x.put(wheel(t, "jupyter_client", "8.1", nil, nil))
	return x
}

func write(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func urlOf(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	return u
}
