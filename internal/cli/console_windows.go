package cli

import (
	"context"
	"os"
	"syscall"

	"github.com/kernel-launch/kernel-launch/launcher"
)

var jobControl []os.Signal

func inBackground(int) bool { return false }

func (c *console) pass(_ context.Context, k *launcher.Kernel, sig syscall.Signal) { k.Signal(sig) }
