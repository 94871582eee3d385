package launcher

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
)

// noise are bytes that no filter leaves alone, the same every time.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(1)).Read(b)
	return b
}

func TestACommandsInputAndOutputAreWhole(t *testing.T) {
	data := noise(8 << 20)
	sum, size := sha256.New(), 0
	k := launch(t, Spec{Raw: true, Stdin: bytes.NewReader(data), Stdout: writerFunc(func(p []byte) (int, error) {
		if size == 0 {
			time.Sleep(200 * time.Millisecond) // the pipe is full by then
		}
		size += len(p)
		return sum.Write(p)
	}), Command: []string{"cat"}})
	require.Zero(t, k.Wait().Code)
	assert.Equal(t, len(data), size)
	want := sha256.Sum256(data)
	assert.Equal(t, want[:], sum.Sum(nil))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWithoutInputThereIsNothingToRead(t *testing.T) {
	var out witness.Output
	k := launch(t, Spec{Raw: true, Stdout: &out, Command: []string{"sh", "-c", "cat; readlink /proc/self/fd/0"}})
	require.Zero(t, k.Wait().Code)
	assert.Equal(t, "/dev/null\n", out.String())
}

func TestOutputWaitsForASlowReaderAfterTheEnd(t *testing.T) {
	r, w := io.Pipe()
	k := launch(t, Spec{Raw: true, Stdout: w, Command: []string{"sh", "-c", "head -c 60000 /dev/zero"}})
	select {
	case <-k.Done():
		t.Fatal("it ended, and nobody has read what it wrote")
	case <-time.After(drainTime + 500*time.Millisecond):
	}
	go func() { <-k.Done(); w.Close() }()
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Len(t, b, 60000)
	assert.Equal(t, Exit{Reason: ReasonExited}, k.Wait())
}

func TestAKillDoesNotWaitForAReader(t *testing.T) {
	_, w := io.Pipe()
	k := launch(t, Spec{Raw: true, Stdout: w, Command: []string{"sh", "-c", "head -c 60000 /dev/zero"}})
	begin := time.Now()
	k.Kill()
	assert.Less(t, time.Since(begin), 5*time.Second)
}

func TestWhoeverWritesIsToldThatNobodyReads(t *testing.T) {
	var errors witness.Output
	k := launch(t, Spec{Raw: true, Stderr: &errors, Stdout: writerFunc(func([]byte) (int, error) { return 0, io.ErrClosedPipe }), Command: []string{
		"sh", "-c", "yes; echo status $? >&2",
	}})
	require.Zero(t, k.Wait().Code)
	assert.Equal(t, "status 141\n", errors.String(), "yes died of SIGPIPE, and the shell went on")
}

func TestRawOutputIsNotFiltered(t *testing.T) {
	const text = "\x1b[2J\x07\x00no line end"
	var raw, safely witness.Output
	for _, s := range []Spec{{Raw: true, Stdout: &raw}, {Stdout: &safely}} {
		s.Command = []string{"sh", "-c", "printf '\\033[2J\\007\\000no line end'"}
		require.Zero(t, launch(t, s).Wait().Code)
	}
	assert.Equal(t, text, raw.String())
	assert.Equal(t, `\x1b[2J\x07\x00no line end`+"\n", safely.String(), "the control: unless it is asked for, it is made safe")
}

func TestADenialIsSaidBesideTheCommandsOwnErrors(t *testing.T) {
	var errors witness.Output
	k := launch(t, Spec{Raw: true, Stderr: &errors, Command: []string{
		systemPython, "-ISc", "import urllib.request as u, sys\ntry: u.urlopen('http://nowhere.test/')\nexcept Exception as e: print('failed', file=sys.stderr)",
	}})
	require.Zero(t, k.Wait().Code)
	for _, want := range []string{"failed\n", "kernel-launch: refused nowhere.test:80"} {
		assert.Contains(t, errors.String(), want)
	}
}

func TestACommandIsNoKernel(t *testing.T) {
	dir, variable := runtimeDir(t)
	k := launch(t, Spec{Raw: true, Environ: append(os.Environ(), variable), Command: []string{"sleep", "60"}})
	assert.Nil(t, k.Connection())
	assert.NotEmpty(t, k.ID(), "it stands in the log of what it reached")
	assert.NoDirExists(t, dir+"/kernel-launch/kernels")
	k.Kill()
	assert.Empty(t, strings.TrimSpace(k.Wait().Output))
}
