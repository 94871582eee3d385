package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/launcher"
)

// policyFlags are the flags that narrow or widen what a kernel may do.
type policyFlags struct {
	env       string
	profile   string
	overrides launcher.Overrides
}

func (p *policyFlags) bind(cmd *cobra.Command) {
	f, o := cmd.Flags(), &p.overrides
	f.StringVar(&p.env, "env", "", "managed environment `NAME`; the folder's in config.yaml, else \"default\"")
	f.StringVar(&p.profile, "profile", "", "profile `NAME` of config.yaml")
	f.StringVar(&o.Network, "network", "", "`MODE`: none, allowlist or host")
	f.Var(texts{&o.AllowHost}, "allow-host", "let `HOST[:PORT]` through as well")
	f.Var(texts{&o.Read}, "read", "show `PATH` read-only")
	f.Var(texts{&o.Write}, "write", "show `PATH` read-write")
	f.Var(texts{&o.PassEnv}, "pass-env", "pass the variable `NAME` on")
	f.Var(texts{&o.SetEnv}, "set-env", "set `NAME=VALUE`")
	f.Var(texts{&o.Forward}, "forward", "show this machine's port inside: `PORT[:HOST:PORT]`")
	f.Var(texts{&o.Publish}, "publish", "show the kernel's port on this machine's 127.0.0.1: `[HOSTPORT:]PORT`")
	f.StringVar(&o.Memory, "memory", "", "at most `SIZE` of memory, such as 2GiB")
	f.StringVar(&o.Processes, "processes", "", "at most `N` processes")
	f.StringVar(&o.CPUs, "cpus", "", "at most `N` processors")
	f.StringVar(&o.GPU, "gpu", "", "`KIND`: none, nvidia or amd")
	f.StringVar(&o.Sandbox, "sandbox", "", "`BACKEND`: auto or off")
}

const longHelp = `kernel-launch starts Jupyter kernels bound to a managed environment, confined, and let out only through an egress proxy.

A kernelspec calls it as
  kernel-launch --env NAME -f FILE
To begin:
  kernel-launch env create default
  kernel-launch kernelspec install --env default
and pick "Python 3 · default (confined)" in Jupyter.`

// root makes the commands that args can name.
func (a *app) root(args []string) *cobra.Command {
	var policy policyFlags
	var file string
	var dry bool
	root := &cobra.Command{
		Use: "kernel-launch --env NAME -f FILE", Short: "start confined Jupyter kernels", Long: longHelp,
		SilenceErrors: true, SilenceUsage: true, Args: noArguments, PersistentPreRunE: onlyOutside,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				if dry {
					return usage(cmd, "--dry-run needs -f FILE; to see what a kernel would get: kernel-launch sandbox show")
				}
				return cmd.Help()
			}
			return a.launch(cmd, policy, file, dry)
		},
	}
	policy.bind(root)
	root.Flags().StringVarP(&file, "file", "f", "", "connection `FILE` that a Jupyter client wrote")
	root.Flags().BoolVar(&dry, "dry-run", false, "print what would be done, start nothing")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "one JSON object on standard output")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, "%v", err) })
	root.CompletionOptions.HiddenDefaultCmd = true
	if onlyLaunches(root, args) {
		return root
	}
	root.AddCommand(a.evalCommand(), a.runCommand(), a.demoCommand(), a.envCommand(), a.installCommand(), a.uninstallCommand(), a.kernelspecCommand(), a.kernelCommand(), a.statusCommand(),
		a.egressCommand(), a.connectCommand(), a.folderCommand(), a.sandboxCommand(), a.doctorCommand(), a.versionCommand())
	return root
}

// launches says whether cmd starts a kernel: whatever keeps it from doing so is status 125, as a container runtime would say.
func launches(cmd *cobra.Command) bool {
	return !cmd.HasParent() || cmd.Name() == "eval" || cmd.Name() == "run"
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(cmd, "unexpected argument %q", args[0])
	}
	return nil
}

// arguments asks for exactly the named ones.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usage(cmd, "%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return usage(cmd, "unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// group is a command that only holds others.
func group(use, short string, sub ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage(cmd, "unknown command %q", args[0])
		}
		return nil
	}, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(sub...)
	return c
}

// since prints a duration as people say it.
func since(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func lines(w io.Writer, list []string) {
	for _, s := range list {
		fmt.Fprintln(w, s)
	}
}
