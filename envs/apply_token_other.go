//go:build !linux

package envs

// startToken: the lock decides everywhere; here nothing more explains it than the number.
func startToken(int) string { return "" }
