package probe

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Held is how many lines a "hold" says on standard output, one for each process that has settled: itself, its daemon, and a child that no death signal
// reaches. All keep it open: whoever reads it sees the end when the last of them has gone.
const Held = 3

// longest is how long what a test has lost may stay.
const longest = time.Minute

// lives are programs that do not want to end.
var lives = map[string]attempt{
	"hold":           hold,
	"linger":         linger,
	"wait":           wait,
	"leave a daemon": leaveDaemon,
	"kill itself":    func(a Args) (string, error) { return "", unix.Kill(os.Getpid(), unix.Signal(a.number(0))) },
}

// hold starts a daemon and a child that is deaf to the death of its parent, and waits.
func hold(a Args) (string, error) {
	if err := start(Call{Name: "leave a daemon"}, true); err != nil {
		return "", err
	}
	if err := start(Call{Name: "linger"}, false); err != nil {
		return "", err
	}
	return linger(a)
}

// start starts an attempt in a session of its own, with the same standard output.
func start(c Call, waits bool) error {
	cmd, err := again(c)
	if err != nil {
		return err
	}
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil || !waits {
		return err
	}
	return cmd.Wait()
}

// leaveDaemon ends before its child does, which is then process 1's.
func leaveDaemon(Args) (string, error) { return "", start(Call{Name: "linger"}, false) }

// linger catches what can be caught and clears the signal of its parent's death, unless it is process 1: that one is the launcher's own.
func linger(Args) (string, error) {
	signal.Notify(make(chan os.Signal, 1))
	if os.Getpid() != 1 {
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0); err != nil {
			return "", err
		}
	}
	if _, err := fmt.Println(os.Getpid()); err != nil {
		return "", err
	}
	return wait(Args{})
}

func wait(Args) (string, error) {
	<-time.After(longest)
	return "", errors.New("nobody ended it")
}
