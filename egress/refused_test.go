package egress

import "syscall"

const errRefused = syscall.ECONNREFUSED
