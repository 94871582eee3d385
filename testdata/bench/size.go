package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const settle = 3 * time.Second // until a kernel that has answered is idle

// measureSize is what stays in memory beside an idle kernel, and the size of the program.
func measureSize(ctx context.Context, w *world) ([]Row, error) {
	info, err := os.Stat(w.launcher)
	if err != nil {
		return nil, err
	}
	r, err := w.spawn(allowlistKernel)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	ready, cancel := r.while(ctx)
	defer cancel()
	if err := firstReply(ready, r.conn); err != nil {
		return nil, err
	}
	select {
	case <-time.After(settle):
	case <-ready.Done():
		return nil, context.Cause(ready)
	}
	rows, err := memoryRows(r.cmd.Process.Pid)
	return append(rows, alone("size of the program", "MB", []float64{float64(info.Size()) / 1e6})), err
}

func memoryRows(launcher int) ([]Row, error) {
	bwrap, err := onlyChild(launcher)
	if err != nil {
		return nil, err
	}
	inner, err := onlyChild(bwrap)
	if err != nil {
		return nil, err
	}
	var values []float64
	var faults []error
	for _, pid := range []int{launcher, inner, bwrap} {
		v, err := pss(pid)
		values, faults = append(values, v), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		progress("memory of the inside can be read by root only: %v", err)
		return nil, nil
	}
	row := func(what string, v float64) Row { return alone("PSS beside an idle kernel: "+what, "MB", []float64{v}) }
	return []Row{
		row("launcher", values[0]), row("inside", values[1]), row("bwrap", values[2]),
		row("launcher and inside", values[0]+values[1]).bar("value", 20),
	}, nil
}

func onlyChild(pid int) (int, error) {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0, err
	}
	var children []string
	for _, t := range tasks {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		if err != nil {
			return 0, err
		}
		children = append(children, strings.Fields(string(b))...)
	}
	if len(children) != 1 {
		return 0, fmt.Errorf("process %d has children %v, not one", pid, children)
	}
	return strconv.Atoi(children[0])
}

// pss is the proportional share of a process in MB: what it shares with others counts in part.
func pss(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "Pss:" {
			kb, err := strconv.ParseFloat(f[1], 64)
			return kb * 1024 / 1e6, err
		}
	}
	return 0, fmt.Errorf("smaps_rollup of %d has no Pss", pid)
}
