package sandbox

import (
	"context"
	"os/exec"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// Version asks a bubblewrap program for its version. It costs a process, so it is asked only after a failure; "" means
// that the program does not answer.
func Version(ctx context.Context, program string) string {
	if program == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{}, "/", time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return plain.Line(string(out), 80)
}
