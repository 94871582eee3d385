package launcher

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/witness"
	"github.com/kernel-launch/kernel-launch/jupyter"
)

const systemPython = "/usr/bin/python3"

// MakeDefault makes the environment "default" once for all tests of a run: the system's own Python, with ipykernel from the package index.
var MakeDefault = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	h, err := Spec{}.host()
	if err != nil {
		return err
	}
	store, err := Store(h.dirs, DefaultConfig(), h.helper, os.Getenv)
	if err != nil {
		return err
	}
	_, err = store.Create(ctx, envs.CreateOptions{Name: "default", Python: systemPython})
	return err
})

// folder is one that a kernel may be shown.
func folder(t testing.TB) string {
	t.Helper()
	d, err := os.MkdirTemp(filepath.Dir(os.Getenv("HOME")), "notebooks-")
	require.NoError(t, err)
	return d
}

// runtimeDir is a place for records that no other test's kernels use.
func runtimeDir(t testing.TB) (dir, variable string) {
	t.Helper()
	d := folder(t)
	return d, "XDG_RUNTIME_DIR=" + d
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// launch starts a kernel in the environment "default" that ends with the test.
func launch(t testing.TB, s Spec) *Kernel {
	t.Helper()
	k, err := try(t, s)
	require.NoError(t, err)
	t.Cleanup(func() { k.Kill() })
	return k
}

// ordinary is s in the environment "default" and a folder of its own, unless it says another.
func ordinary(t testing.TB, s Spec) Spec {
	t.Helper()
	require.NoError(t, MakeDefault())
	if s.Environment == "" {
		s.Environment = "default"
	}
	if s.Folder == "" {
		s.Folder = folder(t)
	}
	return s
}

func try(t testing.TB, s Spec) (*Kernel, error) {
	t.Helper()
	s = ordinary(t, s) // which may have to make the environment first
	return Launch(within(t, time.Minute), s)
}

// dial is a client of a kernel that has answered.
func dial(t testing.TB, k *Kernel) *jupyter.Client {
	t.Helper()
	ctx := within(t, time.Minute)
	c, err := jupyter.Dial(ctx, k.Connection())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = c.KernelInfo(ctx)
	require.NoError(t, err)
	return c
}

// cell runs code and returns what it printed, and its exception, if it had one.
func cell(t testing.TB, c *jupyter.Client, code string) (string, *jupyter.Exception) {
	t.Helper()
	var out strings.Builder
	reply, err := c.Execute(within(t, time.Minute), code, jupyter.ExecuteOptions{Output: func(m jupyter.Message) {
		if s, ok := m.Stream(); ok {
			out.WriteString(s.Text)
		}
	}})
	require.NoError(t, err)
	return strings.TrimSpace(out.String()), reply.Exception
}

// python runs code as a command of its own inside, which takes a tenth of a kernel's time, and returns what it printed.
func python(t testing.TB, s Spec, code string) (string, Exit) {
	t.Helper()
	var out witness.Output
	s.Command, s.Stdout, s.Stderr = []string{systemPython, "-I", "-S", "-c", code}, &out, &out
	exit := launch(t, s).Wait()
	return strings.TrimSpace(out.String()), exit
}

// tree is a process and everything below it.
func tree(t testing.TB, root int) []witness.Process {
	t.Helper()
	all, err := witness.Below(root)
	require.NoError(t, err)
	return all
}

// requireGone allows the second that a client gives.
func requireGone(t testing.TB, all []witness.Process) {
	t.Helper()
	require.Empty(t, witness.Wait(all, time.Second))
}
