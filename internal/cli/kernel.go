package cli

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/restart"
)

func (a *app) kernelCommand() *cobra.Command {
	return group("kernel", "kernels that run, and those that have ended", a.kernelList(), a.kernelShow(),
		a.kernelAsk("interrupt", "stop what a kernel computes", "Interrupted", launcher.OpInterrupt),
		a.kernelAsk("restart", "give a kernel a fresh process on the same ports", "Restarted", launcher.OpRestart),
		a.kernelForward(), a.kernelPublish(),
		a.kernelAsk("stop", "end a kernel", "Stopped", launcher.OpStop))
}

// listedKernel is a running kernel for tools.
type listedKernel struct {
	launcher.Record
	Stale   bool             `json:"stale"`   // its environment has a newer generation than it runs
	Verdict *restart.Verdict `json:"verdict"` // what that generation means for it; null when it runs the current one

	Denied []launcher.Denial `json:"denied,omitempty"` // what it was refused last, where its launcher was asked
}

func (a *app) kernels() ([]listedKernel, error) {
	d, err := launcher.Dirs(a.getenv)
	if err != nil {
		return nil, err
	}
	records, err := launcher.Kernels(d)
	if err != nil {
		return nil, err
	}
	helper, err := os.Executable()
	if err != nil {
		return nil, err
	}
	installer := launcher.Installer{Store: launcher.Environments(d, helper, a.getenv), Dirs: d} // a configuration that cannot be read must not hide what runs
	var list []listedKernel
	for _, r := range records {
		k := listedKernel{Record: r}
		if j, err := installer.Standing(r); err == nil && j != nil {
			k.Stale, k.Verdict = true, &j.Verdict
		}
		list = append(list, k)
	}
	return list, nil
}

func (a *app) kernelList() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "list the running kernels", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			running, err := a.kernels()
			if err != nil {
				return err
			}
			var ended []launcher.Ended
			if all {
				if ended, err = a.endedKernels(); err != nil {
					return err
				}
			}
			list := []any{}
			for _, k := range ended {
				list = append(list, k)
			}
			for _, k := range running {
				list = append(list, k)
			}
			return a.print(items(list), func(w io.Writer) {
				for i := range ended {
					running = append(running, listedKernel{Record: ended[i].Record})
				}
				kernelTable(w, running)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also those that have ended, the last 50")
	return c
}

func kernelTable(w io.Writer, list []listedKernel) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tENVIRONMENT\tSTATE\tAGE\tNETWORK\tPID\tFOLDER")
	for _, k := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", k.ID, k.Environment, k.State, since(k.Started, time.Now()), string(k.Network), k.PID, plain.Line(k.Folder, 200))
	}
	t.Flush()
}

func (a *app) find(id string) (listedKernel, error) {
	list, err := a.kernels()
	if err != nil {
		return listedKernel{}, err
	}
	for _, k := range list {
		if k.ID == id {
			return k, nil
		}
	}
	return listedKernel{}, &noKernelError{id}
}

func (a *app) kernelAsk(verb, short, done string, op launcher.Operation) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Args: arguments("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := a.find(args[0])
			if err != nil {
				return err
			}
			reply, err := k.Ask(cmd.Context(), op)
			if err != nil {
				return err
			}
			return a.print(map[string]any{"id": k.ID, "status": verb, "state": reply.State}, func(w io.Writer) { fmt.Fprintln(w, done, k.ID) })
		},
	}
}
