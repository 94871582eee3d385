//go:build unix

package launcher

import (
	"os/exec"
	"syscall"
)

// endWhole ends what a command has started along with it. A group of its own also keeps an interrupt from the terminal away from it.
func endWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
