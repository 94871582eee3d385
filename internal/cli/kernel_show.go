package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
)

func (a *app) kernelShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "show a kernel, also one that has ended", Args: arguments("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := a.find(args[0])
			if err == nil {
				askLauncher(cmd.Context(), &k)
				return a.print(k, func(w io.Writer) { showRunning(w, k) })
			}
			ended, fault := a.endedKernels()
			for _, e := range ended {
				if e.ID == args[0] {
					return a.print(e, func(w io.Writer) { showEnded(w, e) })
				}
			}
			return errors.Join(err, fault)
		},
	}
}

func showRunning(w io.Writer, k listedKernel) {
	fmt.Fprintf(w, "%s: %s, environment %s (%s), generation %d, since %s\n", k.ID, k.State, k.Environment, k.Language, k.Generation, k.Started.Local().Format(time.DateTime))
	showPlace(w, k.Record)
	showPorts(w, k.Record)
	fmt.Fprintf(w, "process: %d\n", k.PID)
	if k.ConnectionFile != "" {
		fmt.Fprintln(w, "connection file:", plain.Line(k.ConnectionFile, 400))
	}
	showDenied(w, k.Denied)
	if k.Stale {
		fmt.Fprintln(w, "its environment has changed since it was started: kernel-launch kernel restart", k.ID)
	}
}

func showEnded(w io.Writer, e launcher.Ended) {
	fmt.Fprintf(w, "%s: ended %s, environment %s (%s), generation %d, started %s\n", e.ID, e.Ended.Local().Format(time.DateTime), e.Environment, e.Language, e.Generation, e.Started.Local().Format(time.DateTime))
	fmt.Fprintf(w, "%s\n", plain.Line(e.Text, 2000))
	for _, s := range e.Notes {
		fmt.Fprintln(w, "note:", plain.Line(s, 2000))
	}
	showPlace(w, e.Record)
	if e.Output != "" {
		fmt.Fprintf(w, "the last that it wrote:\n%s\n", plain.Text(e.Output, 4<<10))
	}
}

// showPlace says where it works, and what programs there cannot do although an ordinary user could.
func showPlace(w io.Writer, r launcher.Record) {
	if r.Folder == "" {
		fmt.Fprintln(w, "folder: an empty one of its own")
	} else {
		fmt.Fprintln(w, "folder:", plain.Line(r.Folder, 400))
	}
	fmt.Fprintf(w, "network: %s\n", r.Network)
	if r.Links == "deny" && r.Folder != "" {
		fmt.Fprintf(w, "links: cannot be made in the folder, so python -m venv fails there, npm install may, and git clone writes links as files; to allow them, put into config.yaml:\n  %s\n", launcher.LinksLine(r.Folder))
	}
}

func (a *app) endedKernels() ([]launcher.Ended, error) {
	d, err := launcher.Dirs(a.getenv)
	if err != nil {
		return nil, err
	}
	return launcher.EndedKernels(d)
}
