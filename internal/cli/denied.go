package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
)

// askTime is how long a launcher may take to say what it alone knows of its kernel. One that does not answer must not hide the rest.
const askTime = 2 * time.Second

func ask(ctx context.Context, r launcher.Record) (launcher.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return r.Ask(ctx, launcher.OpStatus)
}

func showDenied(w io.Writer, list []launcher.Denial) {
	for _, d := range list {
		fmt.Fprintf(w, "refused: %s (%s), %s, last %s\n", plain.Line(egress.Event{Host: d.Host, Port: d.Port}.Where(), 300), plain.Line(d.Code, 40), count(d.Count, "time"), d.Last.Local().Format(time.DateTime))
		if d.Allow != "" {
			fmt.Fprintf(w, "  to allow it: %s\n", plain.Line(d.Allow, 300))
		}
	}
}

// sayDenied is the short form, for a list of kernels.
func sayDenied(w io.Writer, kernels []listedKernel) {
	for _, k := range kernels {
		if n := len(k.Denied); n > 0 {
			fmt.Fprintf(w, "kernel %s was refused %s: kernel-launch kernel show %s\n", k.ID, count(n, "host"), k.ID)
		}
	}
}
