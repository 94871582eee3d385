package sandbox

import "golang.org/x/sys/unix"

// landlockABI asks the kernel for its version of Landlock. One that has none, or has it switched off, answers with an error.
func landlockABI() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}
