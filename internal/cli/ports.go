package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
)

func (a *app) kernelForward() *cobra.Command {
	return a.kernelPort(launcher.OpForward, "forward ID PORT[:HOST:PORT]", "show a service of this machine inside",
		`Shows a service on the localhost of a running kernel: PORT of this machine, or PORT:HOST:PORT for one that this machine reaches elsewhere.
It holds until the kernel ends, also when it is restarted in place. Whatever HOST is, no rule of egress is asked.`)
}

func (a *app) kernelPublish() *cobra.Command {
	return a.kernelPort(launcher.OpPublish, "publish ID [HOSTPORT:]PORT", "show a kernel's port on this machine",
		`Shows a port of a running kernel on this machine's 127.0.0.1, under the same number or under HOSTPORT, and on no other address of it.
It holds until the kernel ends, also when it is restarted in place. Every program and every user of this machine can connect.`)
}

func (a *app) kernelPort(op launcher.Operation, use, short, long string) *cobra.Command {
	var off bool
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Args: arguments("ID", "PORT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			port, err := launcher.ParsePort(launcher.Way(op), args[1])
			if err != nil {
				return err
			}
			k, err := a.find(args[0])
			if err != nil {
				return err
			}
			reply, err := k.Send(cmd.Context(), launcher.Request{Operation: op, Port: args[1], Off: off})
			if err != nil {
				return err
			}
			out := map[string]any{"id": k.ID, "status": op, "off": off, "state": reply.State, "forward": some(reply.Forward), "publish": some(reply.Publish)}
			return a.print(out, func(w io.Writer) {
				if off {
					fmt.Fprintln(w, "Closed:", op, args[1])
					return
				}
				fmt.Fprintln(w, port.Sentence())
			})
		},
	}
	c.Flags().BoolVar(&off, "off", false, "close it, and end what is connected through it")
	return c
}

// askLauncher adds what only the launcher knows. One that does not answer leaves what its record says.
func askLauncher(ctx context.Context, k *listedKernel) {
	k.Forward, k.Publish = some(k.Forward), some(k.Publish)
	if reply, err := ask(ctx, k.Record); err == nil {
		k.Forward, k.Publish, k.Denied = some(reply.Forward), some(reply.Publish), reply.Denied
	}
}

func showPorts(w io.Writer, r launcher.Record) {
	for _, p := range r.Forward {
		fmt.Fprintf(w, "forward: port %d inside is %s as this machine reaches it%s\n", p.Port, plain.Line(p.Outside(), 300), portState(p))
	}
	for _, p := range r.Publish {
		fmt.Fprintf(w, "publish: port %d inside is %s of this machine%s\n", p.Port, plain.Line(p.Outside(), 300), portState(p))
	}
}

// sayPorts is the short form, for a list of kernels.
func sayPorts(w io.Writer, kernels []listedKernel) {
	for _, k := range kernels {
		var open []string
		for way, list := range map[launcher.Way][]launcher.OpenPort{launcher.Forwarded: k.Forward, launcher.Published: k.Publish} {
			for _, p := range list {
				text := fmt.Sprintf("%s %s", way, plain.Line(p.As(way), 300))
				if p.Problem != "" {
					text += " (not open)"
				}
				open = append(open, text)
			}
		}
		if len(open) > 0 {
			slices.Sort(open)
			fmt.Fprintf(w, "kernel %s has open: %s\n", k.ID, strings.Join(open, ", "))
		}
	}
}

func portState(p launcher.OpenPort) string {
	switch {
	case p.Problem != "":
		return ", but it is not open: " + plain.Line(p.Problem, 300)
	case p.Connections != nil:
		return ", " + count(*p.Connections, "connection") + " now"
	}
	return ""
}

// portsOf are the planned openings of one way, as flags have them.
func portsOf(p *launcher.Plan, way launcher.Way) (texts []string) {
	for _, port := range p.Ports {
		if port.Way == way {
			texts = append(texts, port.String())
		}
	}
	return texts
}
