//go:build !linux

package inner

import (
	"context"
	"os"
)

func exit(status int) { os.Exit(status) }

// Only Linux sandboxes have an inside of their own.
func run(context.Context, string) int { return exitFailed }

func stub([]string) int { return exitFailed }
