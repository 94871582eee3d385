//go:build !linux

package selftest

import (
	"context"

	"github.com/kernel-launch/kernel-launch/internal/probe"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Quick is made for Linux. Elsewhere the backend says what there is.
func Quick(ctx context.Context, b sandbox.Backend, _ string) (Report, error) {
	return Report{}, b.Probe(ctx)
}

// Main does nothing here: nothing is started again as a part of a self-test.
func Main(context.Context, []string, sandbox.Backend) {}

// All is made for Linux, as Quick is.
func All(ctx context.Context, b sandbox.Backend, _ string, _ sandbox.Network) (Report, error) {
	return Report{}, b.Probe(ctx)
}

// Inside is made for Linux, as Quick is.
func Inside(ctx context.Context, b sandbox.Backend, _ *sandbox.Plan, _ ...probe.Call) ([]probe.Outcome, error) {
	return nil, b.Probe(ctx)
}
