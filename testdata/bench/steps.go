package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// step names of a start, by the program that begins.
var steps = []struct{ program, what string }{
	{"bwrap", "by ptrace: spawn → bwrap exec'd"},
	{ownWork, "the same from the launcher's own exec: what its loading takes of the system is left out"},
	{"inner", "spawn → inside begins (bwrap and its mounts done)"},
	{"python", "spawn → the kernel's program begins"},
}

// ownWork is no program: it is the time between two.
const ownWork = "launcher to bwrap"

// measureSteps says where a start's time goes before the kernel's program begins, with and without the proxy.
func measureSteps(ctx context.Context, w *world) ([]Row, error) {
	kinds := []kind{allowlistKernel, noneKernel}
	found := make([]map[string][]float64, len(kinds))
	_, err := inTurns(max(w.n, 21), len(kinds), func(i int) (float64, error) {
		moments, err := w.timeSteps(ctx, kinds[i])
		if err != nil {
			return 0, err
		}
		if found[i] == nil {
			found[i] = map[string][]float64{}
			return 0, nil // the first fills caches
		}
		for _, m := range moments {
			found[i][m.program] = append(found[i][m.program], milliseconds(m.after))
		}
		return 0, nil
	})
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, s := range steps {
		if values := found[0][s.program]; len(values) > 0 {
			rows = append(rows, alone(s.what, "ms", values))
		}
	}
	if len(rows) == 0 || rows[0].What != steps[0].what {
		return nil, errors.New("no bwrap was seen to begin")
	}
	free, err := w.measureOwnWork(ctx)
	if err != nil {
		return nil, err
	}
	if free == nil {
		rows[0] = rows[0].bar("value", 8)
	}
	rows = append(free, rows...)
	cost := against("spawn → the kernel's program begins, allowlist against none", "ms", found[0]["python"], found[1]["python"])
	return append(rows, cost.bar("less", 2)), nil
}

// measureOwnWork is nil for whoever may not ask for it.
func (w *world) measureOwnWork(ctx context.Context) ([]Row, error) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, err
	}
	watch, err := newWatcher(bwrap)
	if errors.Is(err, os.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer watch.close()
	found, err := inTurns(max(w.n, 41), 1, func(int) (float64, error) {
		cmd, done, err := w.launching(ctx, allowlistKernel)
		if err != nil {
			return 0, err
		}
		defer done()
		took, err := watch.after(cmd)
		return milliseconds(took), err
	})
	if err != nil {
		return nil, err
	}
	return []Row{alone("launcher's own work: spawn → bwrap is executed, nobody held", "ms", found[0]).bar("value", 8)}, nil
}

// launching is a launcher that has not been started, with a connection file of its own until done.
func (w *world) launching(ctx context.Context, k kind) (cmd *exec.Cmd, done func(), err error) {
	file, _, err := w.connection()
	if err != nil {
		return nil, nil, err
	}
	argv := k.argv(w, file)
	cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = w.environ, w.folder
	return cmd, func() { os.Remove(file) }, nil
}

func (w *world) timeSteps(ctx context.Context, k kind) ([]moment, error) {
	cmd, done, err := w.launching(ctx, k)
	if err != nil {
		return nil, err
	}
	defer done()
	program := filepath.Base(w.command[0])
	moments, err := beginnings(cmd, program)
	if err != nil {
		return nil, err
	}
	own := moment{program: ownWork}
	for i := range moments {
		switch moments[i].program {
		case program:
			moments[i].program = "python"
		case "bwrap":
			own.after = moments[i].after - moments[0].after // the first that begins is the launcher
		}
	}
	return append(moments, own), nil
}
