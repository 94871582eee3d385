package probe

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminals are attempts at the terminal of whoever started this.
var terminals = map[string]attempt{
	"type into the terminal": typeIn,
}

// typeIn puts a character into the terminal on standard input as if it had been typed. The number is the request: the kernel looks at 32 bits of it.
func typeIn(a Args) (string, error) {
	c := byte('\n')
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, uintptr(a.number(0)), pointer(&c))
	if errno != 0 {
		return "", errno
	}
	return "", nil
}

// withTerminal gives a child a session and a terminal of its own, as its standard input.
func withTerminal(cmd *exec.Cmd) (func(), error) {
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	side, err := other(main)
	if err != nil {
		main.Close()
		return nil, err
	}
	cmd.Stdin = side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	return func() { side.Close(); main.Close() }, nil
}

// other opens the side of a terminal that programs use.
func other(main *os.File) (*os.File, error) {
	if err := unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	return os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
}
