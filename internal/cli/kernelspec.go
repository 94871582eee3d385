package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/kernelspec"
)

func (a *app) kernelspecCommand() *cobra.Command {
	return group("kernelspec", "what Jupyter offers as kernels", a.kernelspecInstall(), a.kernelspecList(), a.kernelspecRemove())
}

func (a *app) finder() kernelspec.Finder {
	return kernelspec.Finder{Goos: runtime.GOOS, Getenv: a.getenv}
}

func (a *app) kernelspecInstall() *cobra.Command {
	var env, name, display, prefix string
	var user, sysPrefix, replace bool
	c := &cobra.Command{
		Use: "install --env NAME", Short: "offer an environment as a kernel in Jupyter", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if env == "" {
				return usage(cmd, "--env is missing")
			}
			root, err := a.specRoot(cmd, user, sysPrefix, prefix)
			if err != nil {
				return err
			}
			o, err := a.specOptions(env)
			if err != nil {
				return err
			}
			o.Root, o.Replace = root, replace
			if name != "" {
				o.Name = name
			}
			if display != "" {
				o.DisplayName = display
			}
			path, err := kernelspec.Install(o)
			if err != nil {
				return err
			}
			out := map[string]any{"name": filepath.Base(path), "path": path, "display_name": o.DisplayName, "environment": env, "argv": o.Argv}
			return a.print(out, func(w io.Writer) {
				fmt.Fprintf(w, "Installed %s: %q in %s\nnext: open Jupyter and pick %q\n", filepath.Base(path), o.DisplayName, path, o.DisplayName)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&env, "env", "", "managed environment `NAME`")
	f.StringVar(&name, "name", "", "`NAME` of the kernelspec; without it kernel-launch-ENV")
	f.StringVar(&display, "display-name", "", "`TEXT` that Jupyter shows")
	f.BoolVar(&user, "user", false, "for this user (the default)")
	f.BoolVar(&sysPrefix, "sys-prefix", false, "for the active virtual or conda environment's Jupyter")
	f.StringVar(&prefix, "prefix", "", "for the Jupyter installed under `FOLDER`")
	f.BoolVar(&replace, "replace", false, "take the place of another program's kernelspec of that name")
	return c
}

// specRoot is the Jupyter data folder that the flags mean.
func (a *app) specRoot(cmd *cobra.Command, user, sysPrefix bool, prefix string) (string, error) {
	chosen := 0
	for _, b := range []bool{user, sysPrefix, prefix != ""} {
		if b {
			chosen++
		}
	}
	if chosen > 1 {
		return "", usage(cmd, "--user, --sys-prefix and --prefix exclude each other")
	}
	f := a.finder()
	if sysPrefix {
		if prefix = a.getenv("VIRTUAL_ENV"); prefix == "" {
			prefix = a.getenv("CONDA_PREFIX")
		}
		if prefix == "" {
			return "", usage(cmd, "--sys-prefix: no environment is active (VIRTUAL_ENV and CONDA_PREFIX are not set)")
		}
	}
	if prefix == "" {
		return f.UserRoot(), nil
	}
	abs, err := filepath.Abs(prefix)
	return f.PrefixRoot(abs), err
}

func (a *app) specOptions(env string) (kernelspec.InstallOptions, error) {
	store, err := a.store("")
	if err != nil {
		return kernelspec.InstallOptions{}, err
	}
	e, err := store.Get(env)
	if err != nil {
		return kernelspec.InstallOptions{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return kernelspec.InstallOptions{}, fmt.Errorf("this program's own path: %w", err)
	}
	return kernelspec.ForEnvironment(self, e.Name, e.Language, e.Interpreter.Version), nil
}

type listedSpec struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Language    string `json:"language"`
	Path        string `json:"path"`
	Confined    bool   `json:"confined"`
	Environment string `json:"environment,omitempty"`
}

func (a *app) listSpecs() ([]listedSpec, []kernelspec.Problem) {
	specs, problems := a.finder().List()
	var list []listedSpec
	for _, s := range specs {
		list = append(list, listedSpec{s.Name, s.DisplayName, s.Language, s.Dir, s.Owned(), s.Environment()})
	}
	return list, problems
}

func (a *app) kernelspecList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the kernels that Jupyter finds, and which are confined", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			list, problems := a.listSpecs()
			for _, p := range problems {
				fmt.Fprintln(a.err, "kernel-launch:", plain.Line(p.Error(), 2000))
			}
			return a.print(items(list), func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "NAME\tCONFINED\tDISPLAY NAME\tPATH")
				for _, s := range list {
					confined := "no"
					if s.Confined {
						confined = "yes"
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", plain.Line(s.Name, 60), confined, plain.Line(s.DisplayName, 80), plain.Line(s.Path, 400))
				}
				t.Flush()
			})
		},
	}
}

func (a *app) kernelspecRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove SPEC", Short: "remove a kernelspec that kernel-launch wrote", Args: arguments("SPEC"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.finder().Find(args[0])
			if err != nil {
				return err
			}
			if err := kernelspec.Remove(s.Dir); err != nil {
				return err
			}
			return a.print(map[string]any{"name": s.Name, "status": "removed", "path": s.Dir}, func(w io.Writer) { fmt.Fprintln(w, "Removed", s.Dir) })
		},
	}
}
