//go:build unix

package egress

import "syscall"

// noFollow keeps a link in the place of a log from leading to another file.
const noFollow = syscall.O_NOFOLLOW
