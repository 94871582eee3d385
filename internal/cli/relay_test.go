package cli

import (
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kernel-launch/kernel-launch/launcher"
)

func TestASignalBetweenAStartAndItsKernelIsNotLost(t *testing.T) {
	var passed []syscall.Signal
	r := relay{
		pass:   func(_ context.Context, _ *launcher.Kernel, sig syscall.Signal) { passed = append(passed, sig) },
		breaks: func(s os.Signal) bool { return ends(s) },
	}
	start, abort := context.WithCancelCause(t.Context())
	r.take(t.Context(), abort, syscall.SIGINT)
	assert.NoError(t, context.Cause(start), "an interrupt of a kernel that does not run yet is none")
	r.take(t.Context(), abort, syscall.SIGTERM)
	assert.ErrorContains(t, context.Cause(start), "ended by terminated")
	assert.Empty(t, passed)
	r.hand(t.Context(), &launcher.Kernel{})
	assert.Equal(t, []syscall.Signal{syscall.SIGTERM}, passed)
	r.take(t.Context(), abort, syscall.SIGINT)
	assert.Equal(t, []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}, passed)
}
