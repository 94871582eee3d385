//go:build !linux

package sandbox

func observeControl() *Control { return nil }
