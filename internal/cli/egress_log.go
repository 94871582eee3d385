package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
)

// logPoll is how often a log that is followed is looked at.
const logPoll = 250 * time.Millisecond

// logFilter says which entries are wanted.
type logFilter struct {
	denied bool
	kernel string
	last   int
}

func (f logFilter) wants(e egress.Entry) bool {
	return (!f.denied || e.Verdict == egress.Deny) && (f.kernel == "" || e.Kernel == f.kernel)
}

func (a *app) egressLog() *cobra.Command {
	var f logFilter
	var follow bool
	c := &cobra.Command{
		Use: "log", Short: "what kernels connected to, and what they were refused",
		Long: "Prints the audit log, oldest first. With --follow and --json each entry is an object on a line of its own.", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.last < 0 {
				return usage(cmd, "-n must be 0 or more, not %d", f.last)
			}
			d, err := launcher.Dirs(a.getenv)
			if err != nil {
				return err
			}
			r := &egress.LogReader{Path: filepath.Join(d.State, "log", "egress.jsonl")}
			defer r.Close()
			list, err := f.read(r)
			if err != nil {
				return err
			}
			if follow {
				return a.follow(cmd.Context(), r, f, list)
			}
			return a.print(items(list), func(w io.Writer) {
				for _, e := range list {
					fmt.Fprintln(w, entryLine(e))
				}
				if len(list) == 0 {
					fmt.Fprintln(a.err, "nothing of that is in the log")
				}
			})
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what is written from now on")
	c.Flags().BoolVar(&f.denied, "denied", false, "only what was refused")
	c.Flags().StringVar(&f.kernel, "kernel", "", "only the kernel `ID`")
	c.Flags().IntVarP(&f.last, "last", "n", 50, "at most the last `N`; 0 is all")
	return c
}

// read returns the last of what is in the log.
func (f logFilter) read(r *egress.LogReader) ([]egress.Entry, error) {
	var list []egress.Entry
	err := r.Read(func(e egress.Entry) {
		if !f.wants(e) {
			return
		}
		list = append(list, e)
		if f.last > 0 && len(list) >= 2*f.last {
			list = append([]egress.Entry(nil), list[len(list)-f.last:]...)
		}
	})
	if f.last > 0 && len(list) > f.last {
		list = list[len(list)-f.last:]
	}
	return list, err
}

// follow prints until ctx is done, which is no failure.
func (a *app) follow(ctx context.Context, r *egress.LogReader, f logFilter, first []egress.Entry) error {
	for _, e := range first {
		a.entry(e)
	}
	t := time.NewTicker(logPoll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		err := r.Read(func(e egress.Entry) {
			if f.wants(e) {
				a.entry(e)
			}
		})
		if err != nil {
			return err
		}
	}
}

func (a *app) entry(e egress.Entry) {
	if !a.json {
		fmt.Fprintln(a.out, entryLine(e))
		return
	}
	a.printed = true
	line, err := json.Marshal(struct {
		Schema int `json:"schema"`
		egress.Entry
	}{1, e})
	if err == nil {
		fmt.Fprintf(a.out, "%s\n", line)
	}
}

// unread are the codes of requests that are refused before they have named a host.
var unread = []string{
	egress.CodeMalformed, egress.CodeMethodRefused, egress.CodeNoSecret, egress.CodeHeadTimeout, egress.CodeTargetTooLong, egress.CodeHeadTooLarge,
	egress.CodeExpectation, egress.CodeUnsupported, egress.CodeTooManyConnection,
}

// whither is the host of an entry; a sum may have none because there were several.
func whither(e egress.Entry) string {
	switch {
	case e.Host != "":
		return egress.Event{Host: e.Host, Port: e.Port}.Where()
	case e.Repeated == 0 || slices.Contains(unread, e.Code):
		return "no host"
	}
	return "several hosts"
}

// entryLine says one entry: when, who, what, and how it ended.
func entryLine(e egress.Entry) string {
	words := []string{e.Time.Local().Format(time.DateTime), e.Kernel, e.Verdict.String(), whither(e), cmp.Or(e.Code, "for several reasons")}
	if e.Rule != "" && e.Rule != e.Host {
		words = append(words, "by "+e.Rule)
	}
	if e.Verdict == egress.Allow {
		words = append(words, fmt.Sprintf("%d bytes out, %d in", e.Sent, e.Received))
	}
	if e.Repeated > 0 && e.Until != nil {
		words = append(words, fmt.Sprintf("(%d times until %s)", e.Repeated, e.Until.Local().Format(time.TimeOnly)))
	}
	return plain.Line(strings.Join(words, "  "), 1000)
}
