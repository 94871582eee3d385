//go:build !linux

package sandbox

func landlockABI() int { return 0 }
