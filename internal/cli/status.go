package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "kernels and environments, in plain words", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kernels, err := a.kernels()
			if err != nil {
				return err
			}
			for i := range kernels {
				if reply, err := ask(cmd.Context(), kernels[i].Record); err == nil {
					kernels[i].Denied = reply.Denied
				}
			}
			store, err := a.store("")
			if err != nil {
				return err
			}
			all, faults := store.List()
			var list []map[string]any
			for _, e := range all {
				list = append(list, environmentJSON(e))
			}
			var problems []string
			for _, f := range faults {
				problems = append(problems, f.Error())
			}
			for _, e := range all {
				if err := e.Check(); err != nil {
					problems = append(problems, err.Error())
				}
			}
			out := map[string]any{"kernels": some(kernels), "environments": some(list), "problems": some(problems)}
			return a.print(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s, %s.\n", count(len(kernels), "running kernel"), count(len(all), "environment"))
				if len(kernels) > 0 {
					kernelTable(w, kernels)
					sayPorts(w, kernels)
					sayDenied(w, kernels)
				}
				for _, e := range all {
					fmt.Fprintf(w, "environment %s: %s %s, %s mode\n", e.Name, e.Interpreter.Implementation, e.Interpreter.Version, e.Mode)
				}
				for _, p := range problems {
					fmt.Fprintln(w, "problem:", plain.Line(p, 2000))
				}
				if len(all) == 0 {
					fmt.Fprintln(w, "next: kernel-launch env create default")
				}
			})
		},
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if n == 0 {
		return "no " + what + "s"
	}
	return fmt.Sprintf("%d %ss", n, what)
}
