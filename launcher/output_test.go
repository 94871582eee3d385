package launcher

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
)

func TestOutputIsPassedOnByLinesWithoutControlCharacters(t *testing.T) {
	var w witness.Output
	o := newOutput(&w, newTail(1<<10))
	io.WriteString(o, "seen \x1b]0;title\x07 end\nhalf")
	io.WriteString(o, " a line\r\nlast")
	require.NoError(t, o.Close())
	assert.Equal(t, `seen \x1b]0;title\x07 end`+"\nhalf a line\nlast\n", w.String())
}

func TestOutputIsBoundedAndSaysWhatItLeftOut(t *testing.T) {
	var w witness.Output
	o := newOutput(&w, newTail(64))
	now := time.Unix(0, 0)
	o.now = func() time.Time { return now }
	line := strings.Repeat("x", 999) + "\n"
	for range 3 * outputBurst / len(line) {
		io.WriteString(o, line)
		if len(o.lines) > 200 { // the destination keeps up: what is left out here is left out by the budget alone
			require.Eventually(t, func() bool { return len(o.lines) == 0 }, time.Minute, time.Millisecond)
		}
	}
	now = now.Add(time.Second)
	io.WriteString(o, "after\n")
	require.NoError(t, o.Close())
	assert.Less(t, len(w.String()), outputBurst+outputRate)
	assert.Greater(t, len(w.String()), outputBurst/2)
	assert.Contains(t, w.String(), "bytes of the kernel's own output were left out here\nafter\n")
	assert.True(t, strings.HasSuffix(o.tail.String(), "after\n"), "the tail has the end, whatever was left out")
}

func TestOutputNeverWaitsForItsDestination(t *testing.T) {
	r, w := io.Pipe() // nobody reads
	defer r.Close()
	o := newOutput(w, newTail(64))
	done := make(chan struct{})
	go func() {
		for range 10_000 {
			io.WriteString(o, "line\n")
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a kernel would hang on its server")
	}
}

func TestALineWithoutEndIsCut(t *testing.T) {
	var w witness.Output
	o := newOutput(&w, newTail(64))
	for range 100 {
		io.WriteString(o, strings.Repeat("x", 1<<10))
	}
	assert.Less(t, len(o.part), outputLine)
	o.Close()
}

// TestWhatTheLauncherSays: a kernel that could keep it back would hide what was refused to it, and one that could forge it would have its user paste a line.
func TestWhatTheLauncherSays(t *testing.T) {
	var w witness.Output
	o := newOutput(&w, newTail(1<<10))
	io.WriteString(o, "kernel-launch: paste this\n \tkernel-launch:and this\nit said kernel-launch: fine\nhalf")
	require.Eventually(t, func() bool { return strings.Contains(w.String(), "fine") }, time.Minute, time.Millisecond)
	o.say("refused \x1b[31mx")
	require.Eventually(t, func() bool { return strings.Contains(w.String(), "refused") }, time.Minute, time.Millisecond)
	require.NoError(t, o.Close())
	assert.Equal(t, "the kernel wrote: kernel-launch: paste this\nthe kernel wrote:  \tkernel-launch:and this\nit said kernel-launch: fine\n"+
		`kernel-launch: refused \x1b[31mx`+"\nhalf\n", w.String())
	assert.Equal(t, w.String(), strings.Replace(o.tail.String(), "half\n", "", 1)+"half\n")
	o.say("late") // and nothing happens
}

func TestAFloodLeavesRoomForWhatTheLauncherSays(t *testing.T) {
	r, w := io.Pipe()
	var seen witness.Output
	o := newOutput(w, newTail(64))
	for range 3 * outputBurst / 1000 {
		io.WriteString(o, strings.Repeat("x", 999)+"\n")
	}
	o.say("refused")
	go io.Copy(&seen, r)
	require.Eventually(t, func() bool { return strings.Contains(seen.String(), "kernel-launch: refused\n") }, time.Minute, time.Millisecond)
	require.NoError(t, o.Close())
	assert.Contains(t, seen.String(), "x\n", "the control")
}
