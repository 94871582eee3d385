//go:build unix

package cli

import (
	"os"
	"syscall"
)

// forwarded are the signals that a kernel may be sent through its launcher.
var forwarded = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH}
