// Package cli is the command line: it turns words into calls of the packages, and their answers and errors into text for people or JSON for tools.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// app is one invocation.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	json     bool
	printed  bool // the one JSON object has been written
	status   int  // what to exit with when the command itself did not fail
}

// Main runs one command line and returns the exit status of the process.
func Main(ctx context.Context, args []string) int {
	sealDescriptors()
	a := &app{in: os.Stdin, out: &standardOut{f: os.Stdout}, err: os.Stderr, getenv: os.Getenv}
	return a.settle(a.run(ctx, args))
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.root(args)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return a.status
	}
	if !a.json && errors.As(err, new(*usageError)) { // a flag that is wrong may stand before --json
		end := slices.Index(args, "--")
		if end < 0 {
			end = len(args)
		}
		a.json = slices.Contains(args[:end], "--json")
	}
	return a.fail(cmd, err)
}

// fail reports err where the user looks, and returns the exit status that belongs to it.
func (a *app) fail(cmd *cobra.Command, err error) int {
	var quiet *quietError
	if errors.As(err, &quiet) {
		return quiet.status
	}
	x := explain(err)
	if launches(cmd) && x.status != statusUsage && x.status != statusNotRunnable && x.status != statusNotFound {
		x.status = statusCannotLaunch
	}
	if a.json {
		if !a.printed {
			a.object(map[string]any{"error": x})
		}
		return x.status
	}
	fmt.Fprintf(a.err, "kernel-launch: %s\n", plain.Text(x.Message, 8<<10))
	if x.Remedy != "" {
		fmt.Fprintf(a.err, "try: %s\n", x.Remedy)
	}
	return x.status
}

// object writes the one JSON object of this invocation.
func (a *app) object(fields any) error {
	whole, err := keyed(fields)
	if err != nil {
		return err
	}
	whole["schema"] = 1
	a.printed = true
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	enc.Encode(whole) // what is lost is settled at the end, and is no failure of the verb's own
	return nil
}

// keyed is an object whose keys can be added to. One that is a map already is not written out for that: what a command has printed may be large.
func keyed(fields any) (map[string]any, error) {
	if m, ok := fields.(map[string]any); ok {
		return maps.Clone(m), nil
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, err
	}
	whole := make(map[string]any, len(raw)+1)
	for key, value := range raw {
		whole[key] = value
	}
	return whole, nil
}

// print writes fields as JSON when that was asked for, and otherwise what text writes.
func (a *app) print(fields any, text func(w io.Writer)) error {
	if a.json {
		return a.object(fields)
	}
	text(a.out)
	return nil
}

// items is a list as the JSON of this program has it.
func items[T any](list []T) map[string]any {
	if list == nil {
		list = []T{}
	}
	return map[string]any{"items": list}
}

// quietError ends the program with a status when everything has been said already.
type quietError struct{ status int }

func (e *quietError) Error() string { return fmt.Sprintf("exit status %d", e.status) }
