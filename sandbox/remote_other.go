//go:build !linux

package sandbox

func remote(string) bool { return false }
