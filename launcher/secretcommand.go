package launcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// What a command that prints a credential may take.
const (
	secretTime = 10 * time.Second
	secretSize = 64 << 10
)

var errSecretTooLong = errors.New("its output is longer than 64 KiB")

// secretBuffer takes a credential and no more. It embeds no buffer: that one's ReadFrom would take all.
type secretBuffer struct{ text bytes.Buffer }

func (b *secretBuffer) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > secretSize {
		return 0, errSecretTooLong
	}
	return b.text.Write(p)
}

// runForSecret runs a command of the operator's on the host, as the launcher's user with the launcher's variables, in an empty folder. What it printed is in
// no error; what it writes to its standard error is dropped.
func runForSecret(ctx context.Context, argv []string, env map[string]string, scratch string) (egress.Secret, error) {
	if err := dirs.MakePrivate(scratch); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(scratch, "credential-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	limited, cancel := context.WithTimeout(ctx, secretTime)
	defer cancel()
	var out secretBuffer
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.WaitDelay = dir, &out, time.Second
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	endWhole(cmd)
	err = cmd.Run()
	switch {
	case errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil:
		return "", fmt.Errorf("its command %s took longer than %s", argv[0], secretTime)
	case err != nil:
		return "", fmt.Errorf("its command %s: %w", argv[0], err)
	}
	return egress.Secret(out.text.String()), nil
}
