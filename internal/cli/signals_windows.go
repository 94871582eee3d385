package cli

import (
	"os"
	"syscall"
)

// forwarded are the signals that Go makes of console events.
var forwarded = []os.Signal{syscall.SIGINT, syscall.SIGTERM}
