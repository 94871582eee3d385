package cli

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
)

func (a *app) envCommand() *cobra.Command {
	return group("env", "managed environments", a.envCreate(), a.envList(), a.envShow(), a.envRemove(), a.envBytecode())
}

// store opens the environments by the configuration of the current folder.
func (a *app) store(profile string) (*envs.Store, error) {
	cfg, err := a.config(profile)
	if err != nil {
		return nil, err
	}
	return a.storeFor(cfg)
}

// storeFor opens them by a configuration.
func (a *app) storeFor(cfg *launcher.Config) (*envs.Store, error) {
	d, err := launcher.Dirs(a.getenv)
	if err != nil {
		return nil, err
	}
	helper, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return launcher.Store(d, cfg, helper, a.getenv)
}

func (a *app) envCreate() *cobra.Command {
	o := envs.CreateOptions{Language: envs.Python}
	c := &cobra.Command{
		Use: "create NAME", Short: "make an environment, with its kernel package",
		Long: "Makes an environment that stands on an installed Python or R and sees what that has (--isolated: only its own).\n" +
			"When the interpreter has no kernel package, it is brought in from the package index, inside a sandbox.",
		Args: arguments("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			o.Name = args[0]
			if err := envs.CheckName(o.Name); err != nil { // before anything is read that may be wrong as well
				return err
			}
			store, err := a.store("")
			if err != nil {
				return err
			}
			e, err := store.Create(ctx, o)
			if err != nil {
				return err
			}
			return a.print(environmentJSON(e), func(w io.Writer) {
				fmt.Fprintf(w, "Environment %s: %s %s at %s, %s mode.\n", e.Name, e.Interpreter.Implementation, e.Interpreter.Version, e.Interpreter.Path, e.Mode)
				for _, p := range e.Owned {
					fmt.Fprintf(w, "  brought in: %s %s\n", p.Name, p.Version)
				}
				fmt.Fprintf(w, "next: kernel-launch kernelspec install --env %s\n", e.Name)
			})
		},
	}
	c.Flags().StringVar(&o.Language, "language", o.Language, "`LANGUAGE`: python or r")
	c.Flags().StringVar(&o.Python, "python", "", "`VERSION` or path of the interpreter (for R: path of R)")
	c.Flags().BoolVar(&o.Isolated, "isolated", false, "see nothing that the interpreter has installed")
	return c
}

func (a *app) envList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the environments", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			store, err := a.store("")
			if err != nil {
				return err
			}
			all, faults := store.List()
			for _, f := range faults {
				fmt.Fprintln(a.err, "kernel-launch:", plain.Line(f.Error(), 2000))
			}
			var list []map[string]any
			for _, e := range all {
				list = append(list, environmentJSON(e))
			}
			return a.print(items(list), func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "NAME\tLANGUAGE\tVERSION\tMODE\tGENERATION")
				for _, e := range all {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\n", e.Name, e.Language, e.Interpreter.Version, e.Mode, e.Generation)
				}
				t.Flush()
			})
		},
	}
}

func (a *app) envShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "show an environment and what its kernels can import", Args: arguments("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.store("")
			if err != nil {
				return err
			}
			e, err := store.Get(args[0])
			if err != nil {
				return err
			}
			packages, hooks, err := e.Packages()
			if err != nil {
				return err
			}
			out := environmentJSON(e)
			out["packages"], out["hooks"] = some(packages), some(hooks)
			problem := ""
			if err := e.Check(); err != nil {
				problem = err.Error()
				out["problem"] = problem
			}
			return a.print(out, func(w io.Writer) { showEnvironment(w, e, packages, hooks, problem) })
		},
	}
}

func showEnvironment(w io.Writer, e *envs.Environment, packages []envs.Package, hooks []envs.Hook, problem string) {
	fmt.Fprintf(w, "%s: %s %s at %s, %s mode, generation %d\n", e.Name, e.Interpreter.Implementation, e.Interpreter.Version, e.Interpreter.Path, e.Mode, e.Generation)
	if problem != "" {
		fmt.Fprintln(w, "problem:", plain.Line(problem, 2000))
	}
	fmt.Fprintln(w, "kernels see it at", e.Current())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range packages {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", plain.Line(p.Name, 100), plain.Line(p.Version, 60), p.Owner, plain.Line(p.Broken, 200))
	}
	t.Flush()
	for _, h := range hooks {
		fmt.Fprintf(w, "runs at start: %s (%s)\n", plain.Line(h.Path, 400), h.Kind)
	}
}

func (a *app) envRemove() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "remove NAME", Short: "remove an environment", Args: arguments("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.store("")
			if err != nil {
				return err
			}
			name := args[0]
			if !yes {
				if _, err := store.Get(name); as(err, new(*envs.NotFoundError)) {
					return err
				}
				if err := a.ask(fmt.Sprintf("Remove environment %s and everything in it?", name), "kernel-launch env remove "+name+" --yes"); err != nil {
					return err
				}
			}
			if err := store.Remove(cmd.Context(), name); err != nil {
				return err
			}
			return a.print(map[string]any{"name": name, "status": "removed"}, func(w io.Writer) { fmt.Fprintln(w, "Removed", name) })
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func environmentJSON(e *envs.Environment) map[string]any {
	return map[string]any{
		"name": e.Name, "language": e.Language, "mode": e.Mode, "generation": e.Generation, "created": e.Created,
		"interpreter": map[string]any{"path": e.Interpreter.Path, "prefix": e.Interpreter.Prefix, "version": e.Interpreter.Version, "implementation": e.Interpreter.Implementation},
		"requested":   some(e.Requested), "owned": some(e.Owned), "path": e.Current(),
	}
}

// some makes an absent list an empty one: tools should not meet null.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
