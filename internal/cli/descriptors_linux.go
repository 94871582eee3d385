package cli

import (
	"golang.org/x/sys/unix"
)

// sealDescriptors keeps what a Jupyter server leaked into this process out of everything that it starts: Go passes inherited descriptors on.
// Where the system call is missing (before Linux 5.9) the inside closes them before the kernel starts.
func sealDescriptors() { _ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) }
