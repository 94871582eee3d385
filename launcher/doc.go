// Package launcher starts a Jupyter kernel bound to a managed environment, confined, and let out only through the egress proxy.
//
// One direction, five values: a Spec (what was asked) becomes a Plan (what will be done; nothing is started), Start makes it a Kernel, and a
// Kernel ends in an Exit.
package launcher

import (
	"context"
	"os"

	"github.com/kernel-launch/kernel-launch/internal/inner"
	"github.com/kernel-launch/kernel-launch/sandbox"
	"github.com/kernel-launch/kernel-launch/sandbox/selftest"
)

// RunInner runs the process inside a sandbox, or a part of the self-test, when this program was started as one, and then does not return. An embedder calls it first in
// main, or names a kernel-launch binary in Spec.Helper.
func RunInner(ctx context.Context) {
	inner.Main(ctx, os.Args)
	selftest.Main(ctx, os.Args, sandbox.Default())
}
