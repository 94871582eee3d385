package inner

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signals are those that pid 1 acts on.
type signals struct{ children, interrupts chan os.Signal }

// prepare makes this process deaf to every signal but those two: an unprepared Go process that is pid 1 dies of most that are sent from inside. One whose
// disposition is the default the kernel keeps from a pid 1, unless it is a fault that is real, and it is the default in the program as well; one that is
// ignored would stay ignored there. To ask Go for all of them would take longer than anything else here: it asks them of a thread, one by one. The channel of
// the ended children holds nothing else: a flood of other signals must not displace the news.
func prepare() (signals, error) {
	s := signals{make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(s.children, syscall.SIGCHLD)
	signal.Notify(s.interrupts, syscall.SIGINT)
	for n := syscall.Signal(1); n <= lastSignal; n++ {
		switch n {
		case syscall.SIGCHLD, syscall.SIGINT, syscall.SIGKILL, syscall.SIGSTOP:
		case syscall.SIGURG: // Go's own, by which it asks a thread to pause
		default:
			if err := setDefault(n); err != nil {
				return s, fmt.Errorf("prepare for %v: %w", n, err)
			}
		}
	}
	return s, nil
}

const lastSignal = 64

func setDefault(n syscall.Signal) error {
	var action [4]uint64 // the kernel's struct sigaction: SIG_DFL, no flags, an empty mask
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func (in *inside) watch(s signals) {
	for {
		select {
		case <-s.children:
			in.reap()
		case <-s.interrupts:
			in.mu.Lock()
			in.hit = time.Now()
			in.mu.Unlock()
		}
	}
}

// twice is how close a SIGINT of the launcher's must follow one that reached this process to be the same key press or button.
const twice = 250 * time.Millisecond

// relay sends sig to the program's group. Some editors interrupt every descendant and then the launcher, which forwards what it got:
// a cell that is hit twice loses its reply.
func (in *inside) relay(sig syscall.Signal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.running || sig == syscall.SIGINT && in.hasHit() {
		return
	}
	syscall.Kill(-in.addressee(sig), sig)
}

// hasHit says it once for each SIGINT that reached this process, so that the next interrupt is not taken for that one however soon it comes.
func (in *inside) hasHit() bool {
	same := time.Since(in.hit) < twice
	in.hit = time.Time{}
	return same
}

// addressee is the group that a signal is for. What a key sends goes where the key would send it: to the job in the foreground of a terminal.
func (in *inside) addressee(sig syscall.Signal) int {
	switch sig {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP:
		if group := in.terminal.foreground(); group > 0 {
			return group
		}
	}
	return in.pid
}
