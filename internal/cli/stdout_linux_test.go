package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/jupyter"
)

// TestLostOutputIsNoSuccess: a full disk is told by each write, and by nothing else.
func TestLostOutputIsNoSuccess(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	for _, row := range []struct {
		args         []string
		whole, short int // the status when all was written, and when nothing could be
	}{
		{[]string{"version"}, 0, 1},
		{[]string{"eval", "print(1)"}, 0, 1},
		{[]string{"eval", "--json", "print(1)"}, 0, 1},
		{[]string{"run", "--", "echo", "out"}, 0, 1},
		{[]string{"run", "--", "seq", "200000"}, 0, 1}, // which is ended by SIGPIPE before it is done
		{[]string{"run", "--json", "--", "echo", "out"}, 0, 1},
		{[]string{"run", "--", "sh", "-c", "echo out; exit 7"}, 7, 7},
	} {
		assert.Equal(t, row.whole, lostStatus(t, os.DevNull, row.args, ""), "the control: %q", row.args)
		assert.Equal(t, row.short, lostStatus(t, "/dev/full", row.args, "kernel-launch: standard output: no space left on device\n"), "%q", row.args)
	}
	assert.Zero(t, lostStatus(t, "/dev/full", []string{"run", "--", "true"}, ""), "nothing was lost")
}

func lostStatus(t *testing.T, device string, args []string, said string) int {
	t.Helper()
	out, err := os.OpenFile(device, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer out.Close()
	var errs bytes.Buffer
	cmd := theWorld().command(args...)
	cmd.Stdout, cmd.Stderr = out, &errs
	cmd.Run()
	assert.Equal(t, said, errs.String(), "%q to %s", args, device)
	return cmd.ProcessState.ExitCode()
}

func TestACellPrintsNoControlCharactersToATerminal(t *testing.T) {
	const code = `print("\x1b]0;title\x07\x1b[31mred\x1b[0m"); print("done")`
	p := sit(t, "eval", code)
	p.sees("done")
	assert.Zero(t, p.status())
	assert.Contains(t, p.String(), `\x1b]0;title\x07`+"\x1b[31mred\x1b[0m\r\n")

	cmd := theWorld().command("eval", code)
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "\x1b]0;title\x07\x1b[31mred\x1b[0m\ndone\n", string(out), "the control: a pipe gets what was printed")
}

func TestWhatACellPrintsForToolsIsBounded(t *testing.T) {
	var out bytes.Buffer
	c := newCell(&app{out: &out, err: &out, json: true})
	for range 3 {
		c.stream(jupyter.Stream{Name: "stdout", Text: strings.Repeat("x", capturedBytes/2)})
		c.stream(jupyter.Stream{Name: "stderr", Text: "y"})
	}
	assert.Len(t, c.stdout.text(), capturedBytes)
	assert.Equal(t, "yyy", c.stderr.text())
	c.status = "ok"
	require.NoError(t, c.report())
	assert.Contains(t, out.String(), `"truncated": true`)
}

// TestACellThatIsBrokenOff ends as the signal says, so that a shell's loop around it ends as well.
func TestACellThatIsBrokenOff(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	for sig, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		cmd := w.command("eval", "import time; print('ready', flush=True); time.sleep(100)")
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.ReadFull(out, make([]byte, 6))
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(sig))
		cmd.Wait()
		assert.Equal(t, status, cmd.ProcessState.ExitCode(), "%v", sig)
		assert.Empty(t, said.String())
	}
}
