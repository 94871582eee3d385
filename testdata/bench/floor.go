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

// measureFloor is what a sandbox costs with nothing in it: bubblewrap alone, and bubblewrap with all walls of a kernel.
func measureFloor(ctx context.Context, w *world) ([]Row, error) {
	plan, err := w.walls()
	if err != nil {
		return nil, err
	}
	things := []func() error{
		func() error { return exec.CommandContext(ctx, "true").Run() },
		func() error {
			return exec.CommandContext(ctx, "bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").Run()
		},
		func() error { return behind(ctx, plan) },
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
		against(fmt.Sprintf("floor: true behind a kernel's %d mounts, against the bare bwrap", len(plan.Mounts)), "ms", times[2], times[1]),
	}, nil
}

// walls are those of a kernel by the built-in policy.
func (w *world) walls() (*sandbox.Plan, error) {
	p, err := launcher.Spec{
		Environment: environment, Folder: w.folder, Helper: w.launcher, Environ: w.environ, Config: launcher.DefaultConfig(),
		Command: []string{"/usr/bin/true"},
	}.Plan()
	if err != nil {
		return nil, err
	}
	return p.Sandbox, os.MkdirAll(p.KeptHome, 0o700)
}

func behind(ctx context.Context, plan *sandbox.Plan) error {
	p, err := sandbox.Default().Start(ctx, plan, sandbox.Command{Argv: []string{"/usr/bin/true"}, Stderr: os.Stderr})
	if err != nil {
		return err
	}
	return errors.Join(p.Wait())
}
