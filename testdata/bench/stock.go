package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed stock.py
var stockDriver string

// measureStock is the same start through jupyter_client, which is what people have.
func measureStock(ctx context.Context, w *world) ([]Row, error) {
	share := filepath.Join(w.root, "share")
	kinds := []kind{plainKernel, allowlistKernel, noneKernel}
	args := []string{"-c", stockDriver, fmt.Sprint(w.n)}
	for _, k := range kinds {
		if err := writeSpec(filepath.Join(share, "kernels", "bench-"+k.name), k.argv(w, "{connection_file}")); err != nil {
			return nil, err
		}
		args = append(args, "bench-"+k.name)
	}
	cmd := exec.CommandContext(ctx, w.python, args...)
	cmd.Dir, cmd.Stderr = w.folder, os.Stderr
	cmd.Env = append([]string{"JUPYTER_PATH=" + share}, w.environ...)
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	times := map[string][]float64{}
	if err := json.Unmarshal(out, &times); err != nil {
		return nil, fmt.Errorf("the driver wrote %q: %w", out, err)
	}
	what := "start_kernel → wait_for_ready by jupyter_client, against plain ipykernel " + w.version("ipykernel")
	plain := times["bench-plain"]
	return []Row{
		against(what, "ms", times["bench-allowlist"], plain).bar("ratio", 1.04),
		against(what+", network none", "ms", times["bench-none"], plain).bar("ratio", 1.04),
	}, nil
}

func writeSpec(dir string, argv []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	b, err := json.Marshal(map[string]any{"argv": argv, "display_name": filepath.Base(dir), "language": "python"})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "kernel.json"), b, 0o644)
}
