package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/sandbox"
	"github.com/kernel-launch/kernel-launch/sandbox/selftest"
)

const longTest = `Makes attempts at the walls on this machine: each one outside first, where it must work, then inside a real sandbox.

Exit status: 0 when every attempt was refused inside, 1 when one got through or nothing could be run.`

func (a *app) sandboxTest() *cobra.Command {
	return &cobra.Command{
		Use: "test", Short: "try the walls on this machine", Long: longTest, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			helper, err := os.Executable()
			if err != nil {
				return err
			}
			backend := sandbox.Default()
			report, err := selftest.Quick(cmd.Context(), backend, helper)
			if err != nil {
				return err
			}
			return a.tried(backend.Name(), report)
		},
	}
}

func (a *app) tried(backend string, r selftest.Report) error {
	out := items(r.Rows)
	out["backend"], out["enforced"], out["missing"] = backend, some(r.Enforced), some(r.Missing)
	if !r.OK() {
		out["error"] = explained{Code: "wall", Message: through(r.Rows), Remedy: "kernel-launch doctor"}
	}
	if err := a.print(out, func(w io.Writer) { attempts(w, r) }); err != nil {
		return err
	}
	if !r.OK() {
		return &quietError{statusFailed}
	}
	return nil
}

// through says which attempts did not come out as they must.
func through(rows []selftest.Row) string {
	failed := slices.DeleteFunc(slices.Clone(rows), func(r selftest.Row) bool { return r.OK })
	text := fmt.Sprintf("%d of %d attempts did not come out as they must", len(failed), len(rows))
	if len(failed) > 0 {
		text += ": " + failed[0].String()
	}
	return text
}

func attempts(w io.Writer, r selftest.Report) {
	for _, row := range r.Rows {
		word := "ok"
		if !row.OK {
			word = "FAILED"
		}
		fmt.Fprintf(w, "%-7s %s\n", word, row)
	}
	for _, g := range r.Enforced {
		fmt.Fprintf(w, "Enforced: %v.\n", g)
	}
	for _, g := range r.Missing {
		fmt.Fprintf(w, "Not enforced: %v.\n", g)
	}
	if r.OK() {
		fmt.Fprintf(w, "All %d attempts came out as they must.\n", len(r.Rows))
		return
	}
	fmt.Fprintf(w, "%s.\n", through(r.Rows))
}
