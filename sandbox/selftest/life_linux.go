package selftest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/probe"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Word is the first argument of a program that is to be a launcher and be killed.
const Word = "kernel-launch:selftest"

// goneIn is how long everything may take to end. It takes milliseconds; a machine under heavy load has been seen to need seconds.
const goneIn = 5 * time.Second

func holding() []string { return []string{sandbox.HelperTarget, probe.Word, probe.Text(do("hold"))} }

// Main is the other end of a self-test when args ask for it, and then does not return: the probes, or a launcher. It comes first in main.
func Main(ctx context.Context, args []string, b sandbox.Backend) {
	probe.Main(args)
	if len(args) < 3 || args[1] != Word {
		return
	}
	if err := hold(ctx, b, args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// hold starts what does not want to end behind the walls of a policy, and waits for it.
func hold(ctx context.Context, b sandbox.Backend, text string) error {
	var policy sandbox.Policy
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		return err
	}
	plan, err := b.Plan(policy)
	if err != nil {
		return err
	}
	p, err := b.Start(ctx, plan, sandbox.Command{Argv: holding(), Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return err
	}
	return p.Wait()
}

// KilledLauncher starts a launcher whose sandbox holds a daemon and a child that no death signal reaches, kills it, and says how long all of it took to end.
func KilledLauncher(ctx context.Context, p sandbox.Policy) (time.Duration, error) {
	policy, err := json.Marshal(p)
	if err != nil {
		return 0, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, p.Helper, Word, string(policy))
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		return 0, err
	}
	took, err := endOf(r, cmd.Process.Kill)
	cmd.Process.Kill() //nolint:errcheck // it has gone already, but for a fault
	cmd.Wait()         //nolint:errcheck // it was killed
	return took, err
}

// KilledSandbox is KilledLauncher for the program that holds the sandbox: kill is told the number of process 1 on the host.
func KilledSandbox(ctx context.Context, b sandbox.Backend, p sandbox.Policy, kill func(pid int) error) (time.Duration, error) {
	plan, err := b.Plan(p)
	if err != nil {
		return 0, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	process, err := b.Start(ctx, plan, sandbox.Command{Argv: holding(), Stdout: w})
	w.Close()
	if err != nil {
		return 0, err
	}
	took, err := endOf(r, func() error { return errors.Join(numbered(process), kill(process.Pid())) })
	return took, errors.Join(err, process.Kill(), ended(process))
}

// numbered waits until the number of process 1 is known.
func numbered(p sandbox.Process) error {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for p.Pid() < 0 {
		select {
		case <-p.Done():
			return errors.New("the sandbox ended by itself")
		case <-look.C:
		}
	}
	return nil
}

// ended waits for a sandbox that was killed: that it was is no fault.
func ended(p sandbox.Process) error {
	var status *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &status) {
		return err
	}
	return nil
}

// endOf waits until all that hold the other end have settled, kills, and waits for the end of the last.
func endOf(r *os.File, kill func() error) (time.Duration, error) {
	if err := r.SetReadDeadline(time.Now().Add(2 * goneIn)); err != nil {
		return 0, err
	}
	lines := bufio.NewReader(r)
	for settled := 0; settled < probe.Held; {
		said, err := lines.ReadString('\n')
		if err != nil {
			return 0, fmt.Errorf("%d of %d processes settled: %q: %w", settled, probe.Held, said, err)
		}
		if !strings.HasPrefix(said, "{") { // what ended on purpose says how that went
			settled++
		}
	}
	begin := time.Now()
	if err := errors.Join(kill(), r.SetReadDeadline(begin.Add(goneIn))); err != nil {
		return 0, err
	}
	rest, err := io.ReadAll(lines)
	switch took := time.Since(begin); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return took, fmt.Errorf("something still lives after %v", took)
	case err != nil || len(rest) > 0:
		return took, fmt.Errorf("instead of its end came %q: %w", rest, err)
	default:
		return took, nil
	}
}

// killed is the row of the bounded self-test that is no attempt.
func killed(ctx context.Context, p sandbox.Policy) Row {
	r := Row{Number: 87, Name: "outlive a launcher that is killed", Control: "lived until then"}
	took, err := KilledLauncher(ctx, p)
	if err != nil {
		r.Inside, r.Why = "did", err.Error()
		return r
	}
	r.Inside, r.OK = fmt.Sprintf("all gone after %v", took.Round(time.Millisecond)), true
	return r
}
