package inner

import "golang.org/x/sys/unix"

// limitCore leaves 1 and not 0: with a core_pattern that starts with "|" the kernel runs the host's handler for a limit of 0, and for 1 it does not.
// Where this process was given 0 itself it cannot raise it.
func limitCore() error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &l); err != nil {
		return err
	}
	l.Max = min(l.Max, 1)
	l.Cur = l.Max
	return unix.Setrlimit(unix.RLIMIT_CORE, &l)
}
