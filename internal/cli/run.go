package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/launcher"
)

const longRun = `Runs COMMAND behind the walls that a kernel of this folder and environment gets: the environment's programs come first on its PATH,
it works in this folder, and it sees and reaches what a kernel would.

Standard input, output and error are passed through. When all three are a terminal, the command gets a terminal of its own. When only its output goes to
a terminal, control characters other than colours are shown instead of obeyed. In a loop that reads, give it </dev/null: it reads ahead.

Exit status: the command's own, 128 + n when signal n ended it, 125 it could not be launched, 126 it cannot be run, 127 it is not there.`

func (a *app) runCommand() *cobra.Command {
	var policy policyFlags
	c := &cobra.Command{
		Use: "run [flags] -- COMMAND [ARGUMENT]...", Short: "run any command behind the same walls", Long: longRun,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return usage(cmd, "COMMAND is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.runIn(cmd, policy, args) },
	}
	policy.bind(c)
	c.Flags().SetInterspersed(false) // what stands behind COMMAND is the command's
	return c
}

func (a *app) runIn(cmd *cobra.Command, policy policyFlags, argv []string) error {
	ctx := cmd.Context()
	start, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	spec, err := a.spec(policy)
	if err != nil {
		return err
	}
	c := a.console()
	defer c.restore()
	spec.Command, spec.Raw = argv, true
	c.connect(&spec)
	r := relay{pass: c.pass, breaks: func(s os.Signal) bool { return s == os.Interrupt || ends(s) }}
	stop := r.begin(ctx, abort, jobControl...)
	defer stop()
	<-r.caught
	k, err := a.begin(start, spec)
	if ended := (*signalError)(nil); errors.As(context.Cause(start), &ended) && err != nil {
		return &quietError{128 + int(ended.signal)}
	}
	if err != nil {
		return err
	}
	c.began(k)
	r.hand(ctx, k)
	exit := k.Wait()
	c.restore()
	a.status = exit.Code
	return a.ran(c, exit)
}

// ran says what the command's own output cannot.
func (a *app) ran(c *console, exit launcher.Exit) error {
	if a.json {
		return a.object(map[string]any{
			"status": exit.Reason, "code": exit.Code, "signal": exit.Signal,
			"stdout": c.stdout.text(), "stderr": c.stderr.text(), "truncated": c.stdout.left+c.stderr.left > 0, "notes": some(exit.Notes),
		})
	}
	a.notes(exit)
	if r := exit.Reason; exit.Limit != nil || r != launcher.ReasonExited && r != launcher.ReasonSignal && r != launcher.ReasonStopped {
		fmt.Fprintln(a.err, "kernel-launch:", strings.Replace(exit.String(), "the kernel", "the command", 1))
	}
	return nil
}

// capturedBytes is how much of each stream --json holds.
const capturedBytes = 16 << 20

// captured keeps the beginning of a stream for --json.
type captured struct {
	b    []byte
	left int // bytes that were left out
}

func (c *captured) Write(p []byte) (int, error) {
	n := min(len(p), capturedBytes-len(c.b))
	c.b = append(c.b, p[:n]...)
	c.left += len(p) - n
	return len(p), nil
}

func (c *captured) text() string { return string(c.b) }
