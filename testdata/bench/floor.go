package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// measureFloor is what a sandbox costs with nothing in it: bubblewrap alone; bubblewrap with the view of a kernel and the filter; and all walls, with the
// inside that puts up Landlock, checks islands and passes the end on.
func measureFloor(ctx context.Context, w *world) ([]Row, error) {
	p, err := w.walls()
	if err != nil {
		return nil, err
	}
	plan := p.Sandbox
	things := []func() error{
		func() error { return exec.CommandContext(ctx, "true").Run() },
		func() error {
			return exec.CommandContext(ctx, "bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").Run()
		},
		func() error { return behind(ctx, plan) },
		func() error { return inside(ctx, p) },
	}
	times, err := inTurns(max(w.n, 21), len(things), func(i int) (float64, error) {
		began := time.Now()
		err := things[i]()
		return milliseconds(time.Since(began)), err
	})
	if err != nil {
		return nil, err
	}
	return []Row{
		alone("floor: true", "ms", times[0]),
		alone("floor: bwrap --unshare-all --ro-bind / / true, start to end", "ms", times[1]),
		against(fmt.Sprintf("floor: true behind a kernel's %d mounts and the filter, against the bare bwrap", len(plan.Mounts)), "ms", times[2], times[1]),
		against("floor: true behind all walls, Landlock too, started by the inside, against the bare bwrap", "ms", times[3], times[1]),
	}, nil
}

// walls are those of a kernel by the built-in policy.
func (w *world) walls() (*launcher.Plan, error) {
	p, err := launcher.Spec{
		Environment: environment, Folder: w.folder, Helper: w.launcher, Environ: w.environ, Config: launcher.DefaultConfig(),
		Command: []string{"/usr/bin/true"},
	}.Plan()
	if err != nil {
		return nil, err
	}
	return p, os.MkdirAll(p.KeptHome, 0o700)
}

func inside(ctx context.Context, p *launcher.Plan) error {
	k, err := launcher.Start(ctx, p)
	if err != nil {
		return err
	}
	return k.Wait().Err
}

func behind(ctx context.Context, plan *sandbox.Plan) error {
	p, err := sandbox.Default().Start(ctx, plan, sandbox.Command{Argv: []string{"/usr/bin/true"}, Stderr: os.Stderr})
	if err != nil {
		return err
	}
	return errors.Join(p.Wait())
}
