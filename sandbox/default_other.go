//go:build !linux

package sandbox

import "runtime"

// Default is the backend of this platform.
func Default() Backend { return absent(runtime.GOOS) }
