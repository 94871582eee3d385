package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/launcher"
)

// readyTime is how long a kernel may take to answer for the first time. Jupyter's own clients wait as long.
const readyTime = 60 * time.Second

func (a *app) evalCommand() *cobra.Command {
	var policy policyFlags
	var language string
	var timeout time.Duration
	c := &cobra.Command{
		Use: "eval [flags] CODE | -", Short: "run one cell in a confined kernel, and print its output",
		Long: "Runs CODE (or standard input) as one cell of a fresh confined kernel.\n\nExit status: 0, 1 when the code raised an exception, 124 timed out, 125 the kernel could not be started.",
		Args: arguments("CODE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			code := args[0]
			if code == "-" {
				b, err := io.ReadAll(a.in)
				if err != nil {
					return fmt.Errorf("standard input: %w", err)
				}
				code = string(b)
			}
			if timeout < 0 {
				return usage(cmd, "--timeout %v is negative", timeout)
			}
			return a.eval(cmd, policy, language, timeout, code)
		},
	}
	policy.bind(c)
	c.Flags().StringVar(&language, "language", "", "without --env: the environment of that `LANGUAGE`, python or r")
	c.Flags().DurationVar(&timeout, "timeout", 0, "end the kernel after `TIME`, such as 90s; 0 is never")
	return c
}

func (a *app) eval(cmd *cobra.Command, policy policyFlags, language string, timeout time.Duration, code string) error {
	ctx, stop := untilSignalled(cmd.Context())
	defer stop()
	if timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, timeout, errTimedOut)
		defer cancel()
		ctx = limited
	}
	if language != "" && policy.env == "" {
		name, err := a.onlyOf(language)
		if err != nil {
			return err
		}
		policy.env = name
	}
	spec, err := a.spec(policy)
	if err != nil {
		return err
	}
	var said kernelOutput
	spec.Stderr = said.to(a.err)
	k, err := a.begin(ctx, spec)
	if err != nil {
		return a.brokenOff(ctx, timeout, err)
	}
	defer func() { a.notes(k.Kill()) }()
	cell := newCell(a)
	if err := cell.run(ctx, k, code); err != nil {
		return a.brokenOff(ctx, timeout, err)
	}
	return cell.report()
}

var errTimedOut = errors.New("timed out")

// brokenOff gives a signal and the time limit their own status.
func (a *app) brokenOff(ctx context.Context, limit time.Duration, err error) error {
	var ended *signalError
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &ended):
		if a.json {
			a.object(map[string]any{"status": "ended", "error": explained{Code: "signal", Message: ended.Error()}})
		}
		return &quietError{128 + int(ended.signal)}
	case !errors.Is(cause, errTimedOut):
		return err
	}
	text := fmt.Sprintf("the cell did not end within %v", limit)
	if a.json {
		a.object(map[string]any{"status": "timed-out", "error": explained{Code: "timed-out", Message: text, Remedy: "kernel-launch eval --timeout 10m …"}})
	} else {
		fmt.Fprintln(a.err, "kernel-launch:", text)
	}
	return &quietError{statusTimedOut}
}

// onlyOf finds the environment that a language means: "default" when it is of that language, else the only one.
func (a *app) onlyOf(language string) (string, error) {
	if language != envs.Python && language != envs.R {
		return "", &envs.LanguageError{Language: language}
	}
	store, err := a.store("")
	if err != nil {
		return "", err
	}
	all, _ := store.List()
	var names []string
	for _, e := range all {
		if e.Language == language {
			names = append(names, e.Name)
			if e.Name == "default" {
				return e.Name, nil
			}
		}
	}
	switch len(names) {
	case 1:
		return names[0], nil
	case 0:
		return "", &refusedError{"there is no environment for " + language, "kernel-launch env create NAME --language " + language}
	}
	return "", &refusedError{fmt.Sprintf("%d environments are for %s: %v", len(names), language, names), "kernel-launch eval --env " + names[0] + " …"}
}

// kernelOutput passes on what the launcher says about a kernel, and drops what the kernel itself writes outside of cells: an eval prints a cell's output.
type kernelOutput struct{ w io.Writer }

func (o *kernelOutput) to(w io.Writer) io.Writer { o.w = w; return o }

func (o *kernelOutput) Write(p []byte) (int, error) {
	const ours = "kernel-launch: "
	if len(p) >= len(ours) && string(p[:len(ours)]) == ours {
		o.w.Write(p)
	}
	return len(p), nil
}

// cell is one evaluation and its output.
type cell struct {
	out, err       io.Writer
	stdout, stderr captured // with --json
	app            *app
	failure        *jupyter.Exception
	status         string
}

// newCell passes a cell's output to a terminal as that of any command: a notebook from elsewhere prints what it wants.
func newCell(a *app) *cell {
	c := &cell{app: a}
	c.out, c.err = shown(a.out, isTerminal(a.out)), shown(a.err, isTerminal(a.err))
	if a.json {
		c.out, c.err = &c.stdout, &c.stderr
	}
	return c
}

func (c *cell) run(ctx context.Context, k *launcher.Kernel, code string) error {
	ready, cancel := context.WithTimeoutCause(ctx, readyTime, fmt.Errorf("the kernel did not answer within %v", readyTime))
	defer cancel()
	ready = whileRunning(ready, k)
	client, err := jupyter.Dial(ready, k.Connection())
	if err == nil {
		defer client.Close()
		_, err = client.KernelInfo(ready)
	}
	if err != nil {
		return ended(k, err)
	}
	reply, err := client.Execute(whileRunning(ctx, k), code, jupyter.ExecuteOptions{Output: c.output})
	if err != nil {
		return ended(k, err)
	}
	c.status, c.failure = reply.Status, reply.Exception
	return nil
}

// whileRunning ends with the kernel.
func whileRunning(ctx context.Context, k *launcher.Kernel) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-k.Done():
			cancel(launcher.ErrEnded)
		case <-ctx.Done():
		}
	}()
	return ctx
}

// endedError is a kernel that ended in the middle.
type endedError struct{ exit launcher.Exit }

func (e *endedError) Error() string {
	s := e.exit.String()
	if e.exit.Output != "" {
		s += "; the last that it wrote:\n" + plain.Text(e.exit.Output, 4<<10)
	}
	return s
}

// ended prefers the reason why a kernel ended to the error that a client made of it.
func ended(k *launcher.Kernel, err error) error {
	select {
	case <-k.Done():
		return &endedError{k.Wait()}
	case <-time.After(200 * time.Millisecond): // a client sees the end of a connection before the kernel is reaped
		return err
	}
}

func (c *cell) output(m jupyter.Message) {
	if s, ok := m.Stream(); ok {
		c.stream(s)
		return
	}
	if d, ok := m.Display(); ok {
		if text, ok := d.Text("text/plain"); ok {
			c.stream(jupyter.Stream{Name: "stdout", Text: text + "\n"})
		}
	}
}

// stream prints as it comes.
func (c *cell) stream(s jupyter.Stream) {
	to := c.out
	if s.Name == "stderr" {
		to = c.err
	}
	io.WriteString(to, s.Text)
}

func (c *cell) report() error {
	failed := c.status != "ok"
	if c.app.json {
		out := map[string]any{"status": c.status, "stdout": c.stdout.text(), "stderr": c.stderr.text(), "truncated": c.stdout.left+c.stderr.left > 0}
		if failed {
			out["error"] = explained{Code: "exception", Message: c.exception()}
		}
		c.app.object(out)
	} else if failed {
		fmt.Fprintln(c.app.err, plain.Text(c.exception(), 8<<10))
	}
	if failed {
		return &quietError{statusFailed}
	}
	return nil
}

func (c *cell) exception() string {
	if c.failure != nil {
		return c.failure.Error()
	}
	return "the cell ended with status " + c.status
}
