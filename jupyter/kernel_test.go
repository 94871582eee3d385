package jupyter

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
)

// testPython finds a Python that has ipykernel.
func testPython(t testing.TB) string {
	t.Helper()
	python := os.Getenv("KERNEL_LAUNCH_TEST_PYTHON")
	if python == "" {
		var err error
		python, err = filepath.Abs("../.tools/venv/bin/python")
		require.NoError(t, err)
	}
	_, err := os.Stat(python)
	require.NoError(t, err, "run make tools")
	return python
}

func testConnection(t testing.TB, key, scheme string) *Connection {
	t.Helper()
	p := witness.FreePorts(t, 5)
	return &Connection{
		Transport: "tcp", IP: "127.0.0.1", Key: key, SignatureScheme: scheme,
		Shell: p[0], IOPub: p[1], Stdin: p[2], Control: p[3], HB: p[4],
	}
}

// testKernel is a real kernel process.
type testKernel struct {
	conn *Connection
	cmd  *exec.Cmd
	done chan struct{}
}

func startIPython(t testing.TB, conn *Connection) *testKernel {
	t.Helper()
	return startKernel(t, conn, func(file string) []string {
		return []string{testPython(t), "-m", "ipykernel_launcher", "-f", file}
	})
}

func startKernel(t testing.TB, conn *Connection, argv func(file string) []string) *testKernel {
	t.Helper()
	dir := t.TempDir()
	text, err := conn.JSON()
	require.NoError(t, err)
	file := filepath.Join(dir, "kernel.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))

	args := argv(file)
	k := &testKernel{conn: conn, cmd: exec.Command(args[0], args[1:]...), done: make(chan struct{})}
	k.cmd.Dir = dir
	k.cmd.Env = append(os.Environ(), "HOME="+dir, "IPYTHONDIR="+dir, "JUPYTER_RUNTIME_DIR="+dir)
	var said lockedBuffer
	k.cmd.Stdout, k.cmd.Stderr = &said, &said
	require.NoError(t, k.cmd.Start())
	go func() { defer close(k.done); _ = k.cmd.Wait() }()
	t.Cleanup(func() {
		k.kill()
		if t.Failed() {
			t.Logf("the kernel said:\n%s", said.String())
		}
	})
	return k
}

func (k *testKernel) kill() {
	_ = k.cmd.Process.Kill()
	<-k.done
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// within is a context for a step that must end by itself.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// dialKernel returns a client of a kernel that has answered.
func dialKernel(t testing.TB, conn *Connection) *Client {
	t.Helper()
	ctx := within(t, time.Minute)
	c, err := Dial(ctx, conn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	_, err = c.KernelInfo(ctx)
	require.NoError(t, err)
	return c
}

// run executes code and returns what it wrote to stdout and stderr, with the reply.
func run(t testing.TB, c *Client, code string) (stdout, stderr string, reply *ExecuteReply) {
	t.Helper()
	var out, errs bytes.Buffer
	reply, err := c.Execute(within(t, time.Minute), code, ExecuteOptions{Output: func(m Message) {
		if s, ok := m.Stream(); ok && s.Name == "stdout" {
			out.WriteString(s.Text)
		} else if ok {
			errs.WriteString(s.Text)
		}
	}})
	require.NoError(t, err)
	require.True(t, reply.Complete)
	return out.String(), errs.String(), reply
}
