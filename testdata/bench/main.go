// Command bench measures kernel-launch against plain ipykernel, in one run: what is compared is measured in turns, and reported as ratios.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// options are the command line.
type options struct {
	launcher string
	python   string // one that has jupyter_client, for the rows of the stock client
	peers    string // the folder that smokescreen is in
	n        int
	trips    int
	only     string
	json     bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := begin(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// begin measures, or does what the program started itself for.
func begin(ctx context.Context) error {
	if len(os.Args) > 1 {
		if role := roles[os.Args[1]]; role != nil {
			return role(ctx)
		}
	}
	var o options
	flag.StringVar(&o.launcher, "launcher", "bin/kernel-launch", "the program to measure")
	flag.StringVar(&o.python, "python", "python3", "a Python that has jupyter_client")
	flag.StringVar(&o.peers, "peers", ".tools/bench", "a folder that smokescreen is in")
	flag.IntVar(&o.n, "n", 11, "how often each start is measured")
	flag.IntVar(&o.trips, "trips", 500, "how often a round trip is measured")
	flag.StringVar(&o.only, "only", "", "comma separated parts: "+strings.Join(partNames(), ", "))
	flag.BoolVar(&o.json, "json", false, "print JSON")
	flag.Parse()
	return run(ctx, o)
}

// part is a group of rows that is measured together.
type part struct {
	name    string
	measure func(context.Context, *world) ([]Row, error)
}

var parts = []part{
	{"floor", measureFloor},
	{"steps", measureSteps},
	{"start", measureStarts},
	{"stock", measureStock},
	{"running", measureRunning},
	{"size", measureSize},
	{"proxy", measureProxy},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func run(ctx context.Context, o options) error {
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer w.close()
	report := Report{Machine: w.machine(), Started: stamp()}
	fault := report.fill(ctx, w)
	report.LoadAfter = load()
	if !o.json {
		report.print(os.Stdout)
		return fault
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return errors.Join(fault, enc.Encode(report))
}

// fill measures part after part. What was measured before a fault stays.
func (r *Report) fill(ctx context.Context, w *world) error {
	for _, p := range parts {
		if w.only != "" && !slices.Contains(strings.Split(w.only, ","), p.name) {
			continue
		}
		progress("measuring: %s", p.name)
		rows, err := p.measure(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		r.Rows = append(r.Rows, rows...)
	}
	return nil
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
