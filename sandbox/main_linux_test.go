package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/sandbox"
	"github.com/kernel-launch/kernel-launch/sandbox/sandboxtest"
	"github.com/kernel-launch/kernel-launch/sandbox/selftest"
)

// TestMain lets the test binary be the command inside: no probe needs a program of the machine.
// Descriptors that the test's caller left open are closed to children first, as a launcher does.
func TestMain(m *testing.M) {
	selftest.Main(context.Background(), os.Args, sandbox.Default())
	if len(os.Args) > 2 && os.Args[1] == "probe" {
		syscall.Exit(sandbox.RunProbe(os.Args[2:])) // not os.Exit: instrumented builds write a report there
	}
	if err := unix.CloseRange(3, 1<<31, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestContract(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Run(t, sandbox.Default(), self)
}
