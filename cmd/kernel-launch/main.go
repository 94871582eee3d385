// Command kernel-launch starts Jupyter kernels bound to a managed environment and confined.
package main

import (
	"context"
	"os"

	"github.com/kernel-launch/kernel-launch/internal/cli"
	"github.com/kernel-launch/kernel-launch/launcher"
)

func main() {
	ctx := context.Background()
	launcher.RunInner(ctx) // the inside goes first: nothing of the rest may run there
	os.Exit(cli.Main(ctx, os.Args[1:]))
}
