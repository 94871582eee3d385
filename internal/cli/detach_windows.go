package cli

import (
	"os/exec"
	"syscall"
)

// detach lets a process outlive this one and its console.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: 0x00000008} } // DETACHED_PROCESS
