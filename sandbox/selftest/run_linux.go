package selftest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/probe"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// runTime is how long all attempts together may take.
const runTime = 30 * time.Second

// run makes the attempts of all rows, outside and then behind the walls of a policy.
func run(ctx context.Context, b sandbox.Backend, p sandbox.Policy, rows []row) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	plan, err := b.Plan(p)
	if err != nil {
		return Report{}, err
	}
	var controls, calls []probe.Call
	for _, r := range rows {
		controls, calls = append(controls, r.controlCall()), append(calls, r.call)
	}
	outside, err := Outside(ctx, p.Helper, controls...)
	if err != nil {
		return Report{}, err
	}
	inside, err := Inside(ctx, b, plan, calls...)
	if err != nil {
		return Report{}, err
	}
	report := Report{Enforced: plan.Enforced, Missing: plan.Missing}
	for i, r := range rows {
		report.Rows = append(report.Rows, r.judge(outside[i], inside[i]))
	}
	return report, nil
}

// Outside makes attempts without walls, in a process that is started as carelessly as one can be: with a secret in its variables and an open file.
func Outside(ctx context.Context, helper string, calls ...probe.Call) ([]probe.Outcome, error) {
	file, err := os.Open(helper)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd := exec.CommandContext(ctx, helper, probe.Word)
	cmd.Env = append(os.Environ(), "KERNEL_LAUNCH_SECRET="+secret)
	cmd.Stdin = strings.NewReader(probe.Text(calls...))
	cmd.ExtraFiles = []*os.File{file}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("attempts outside, %d of %d answered: %w", bytes.Count(out, []byte("\n")), len(calls), err)
	}
	return outcomes(out, len(calls))
}

// Inside makes attempts behind a plan's walls, as process 1.
func Inside(ctx context.Context, b sandbox.Backend, plan *sandbox.Plan, calls ...probe.Call) ([]probe.Outcome, error) {
	stdin, script, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	go func() {
		io.WriteString(script, probe.Text(calls...)) //nolint:errcheck // whoever reads it says what is missing
		script.Close()
	}()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	defer w.Close()
	p, err := b.Start(ctx, plan, sandbox.Command{Argv: []string{sandbox.HelperTarget, probe.Word}, Stdin: stdin, Stdout: w, Stderr: w})
	if err != nil {
		return nil, err
	}
	w.Close()
	out, err := io.ReadAll(r)
	if err := errors.Join(err, p.Wait()); err != nil {
		return nil, fmt.Errorf("attempts inside: %w: %s", err, bytes.TrimSpace(out))
	}
	return outcomes(out, len(calls))
}

// outcomes reads one JSON line for each attempt.
func outcomes(text []byte, n int) ([]probe.Outcome, error) {
	var all []probe.Outcome
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var o probe.Outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, fmt.Errorf("answer %d of %d: %w: %s", len(all)+1, n, err, lines.Bytes())
		}
		all = append(all, o)
	}
	if err := lines.Err(); err != nil || len(all) != n {
		return nil, fmt.Errorf("%d answers to %d attempts: %w", len(all), n, err)
	}
	return all, nil
}
