package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

const probeTime = 10 * time.Second

// probe runs a real sandbox with every option of a plan. The command inside is bwrap itself, which every machine that
// gets this far has.
func probe(ctx context.Context, b *Bubblewrap) error {
	program, err := b.Program()
	if err != nil {
		return unavailable("", err)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	plan, err := b.Plan(Policy{Helper: program})
	if err != nil {
		return unavailable("", err)
	}
	text, err := runOnce(ctx, plan, HelperTarget, "--version")
	if err == nil {
		return nil
	}
	if e := Classify(text, Version(ctx, program), ObserveMachine()); e != nil {
		e.Err = err
		return e
	}
	return unavailable(text, err)
}

// Program is the resolved path of the bwrap that plans of an empty policy use; the error is an *UnavailableError.
func (b *Bubblewrap) Program() (string, error) {
	if path := findBubblewrap(bubblewrapPlaces, os.Getenv("PATH"), nil); path != "" {
		return path, nil
	}
	return "", missing()
}

func unavailable(text string, err error) error {
	var known *UnavailableError
	if errors.As(err, &known) {
		return known
	}
	detail := err.Error()
	if text != "" {
		detail = quoted(text) + ": " + detail
	}
	return &UnavailableError{
		Backend: bubblewrapName, Cause: CauseUnknown, Detail: detail,
		Remedy: "report this line with the output of bwrap --version", Err: err,
	}
}

// runOnce runs a command behind the plan and returns what came on standard error.
func runOnce(ctx context.Context, plan *Plan, argv ...string) (string, error) {
	stderr, err := memory("stderr", nil)
	if err != nil {
		return "", err
	}
	defer stderr.Close()
	p, err := start(ctx, plan, Command{Argv: argv, Stderr: stderr})
	if err != nil {
		return "", err
	}
	status := p.Wait()
	text, err := io.ReadAll(io.NewSectionReader(stderr, 0, 64<<10))
	return string(text), errors.Join(status, err)
}
