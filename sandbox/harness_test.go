//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// world is a fixture host: a home with a secret, a working folder beside it, a kept home.
type world struct {
	t                      *testing.T
	base, home, work, kept string
	secret                 string
	policy                 Policy
}

const secretText = "s3cr3t"

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, base: base, home: base + "/home", work: base + "/work/notebooks", kept: base + "/kept"}
	for _, d := range []string{w.home, w.work, w.kept} {
		require.NoError(t, os.MkdirAll(d, 0o755))
	}
	w.secret = w.home + "/secret"
	w.write(w.secret, secretText)
	self, err := os.Executable()
	require.NoError(t, err)
	w.policy = Policy{Folder: w.work, RealHome: w.home, KeptHome: w.kept, Helper: self}
	return w
}

func (w *world) write(path, text string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

func (w *world) read(path string) string {
	w.t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(w.t, err)
	return string(data)
}

func (w *world) plan() *Plan {
	w.t.Helper()
	plan, err := Default().Plan(w.policy)
	require.NoError(w.t, err)
	return plan
}

// inside runs a probe behind the walls of the world's policy and returns its output.
func (w *world) inside(probe string, args ...string) string {
	w.t.Helper()
	return w.insideOf(w.plan(), probe, args...)
}

// insideOf is inside for a plan that the test has changed.
func (w *world) insideOf(plan *Plan, probe string, args ...string) string {
	w.t.Helper()
	out, err := w.try(plan, probe, args...)
	require.NoError(w.t, err, "%s", out)
	return out
}

func (w *world) try(plan *Plan, probe string, args ...string) (string, error) {
	w.t.Helper()
	file, err := memory("output", nil)
	require.NoError(w.t, err)
	defer file.Close()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	p, err := Default().Start(ctx, plan, Command{Argv: append([]string{HelperTarget, "probe", probe}, args...), Stdout: file, Stderr: file})
	require.NoError(w.t, err)
	status := p.Wait()
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<20))
	require.NoError(w.t, err)
	return string(text), status
}

// outside runs the same probe without any wall: the control of what inside refuses.
func (w *world) outside(probe string, args ...string) string {
	w.t.Helper()
	out, err := exec.Command(w.policy.Helper, append([]string{"probe", probe}, args...)...).CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	return string(out)
}

// conversation is a probe that answers as long as it lives.
type conversation struct {
	t  *testing.T
	p  Process
	to *os.File
	r  *os.File
}

func (w *world) converse(ctx context.Context, marker string) *conversation {
	w.t.Helper()
	inR, inW, err := os.Pipe()
	require.NoError(w.t, err)
	outR, outW, err := os.Pipe()
	require.NoError(w.t, err)
	p, err := Default().Start(ctx, w.plan(), Command{
		Argv: []string{HelperTarget, "probe", "echo", marker}, Files: []*os.File{inR, outW}, Stderr: os.Stderr,
	})
	require.NoError(w.t, err)
	inR.Close()
	outW.Close()
	c := &conversation{t: w.t, p: p, to: inW, r: outR}
	w.t.Cleanup(func() { p.Kill(); <-p.Done(); inW.Close(); outR.Close() })
	return c
}

func (c *conversation) alive(word string) {
	c.t.Helper()
	_, err := fmt.Fprintln(c.to, word)
	require.NoError(c.t, err)
	require.NoError(c.t, c.r.SetReadDeadline(time.Now().Add(10*time.Second)))
	buf := make([]byte, 100)
	n, err := c.r.Read(buf)
	require.NoError(c.t, err)
	require.Equal(c.t, word, strings.TrimSpace(string(buf[:n])))
}

// withMarker are the host's processes whose command line holds a word, the early child of bwrap included.
func withMarker(t *testing.T, marker string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var out []string
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(marker)) {
			out = append(out, path+" "+strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return out
}
