package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// goneIn bounds the wait for process 1 inside after its SIGKILL: only a task stuck in the kernel takes longer.
const goneIn = 5 * time.Second

// process is bwrap and, by a descriptor that cannot be confused with a later process, process 1 inside.
type process struct {
	info *os.File
	done chan struct{}
	told chan struct{} // closed when info has been read

	gate    *gate // nil without limits
	islands []Island
	hit     *LimitHit // written before done is closed

	mu    sync.Mutex
	bwrap int // 0 before it runs and after it was reaped: its number may be someone else's then
	pid   int // -1 until known
	pidfd int // -1 when there is none
	err   error
}

func newProcess(info *os.File, g *gate) *process {
	return &process{info: info, gate: g, done: make(chan struct{}), told: make(chan struct{}), pid: -1, pidfd: -1}
}

func (p *process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

func (p *process) Done() <-chan struct{} { return p.done }

func (p *process) Islands() []Island { return p.islands }

func (p *process) Hit() *LimitHit { return p.hit }

func (p *process) Wait() error {
	<-p.done
	return p.err
}

// Kill ends process 1 inside, which takes its whole namespace along, then bwrap. The group is meant for the moment
// before bwrap's child has a session of its own and before its number is known.
func (p *process) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var inside, outside error
	if p.pidfd >= 0 {
		inside = ignoreGone(unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0))
	}
	if p.bwrap > 0 {
		outside = ignoreGone(unix.Kill(-p.bwrap, unix.SIGKILL))
	}
	return errors.Join(inside, outside)
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

func (p *process) began(bwrap int) {
	p.mu.Lock()
	p.bwrap = bwrap
	p.mu.Unlock()
	go p.readInfo(bwrap)
}

// readInfo learns process 1 inside from bwrap. Its parent is checked after the descriptor was opened, so that the
// descriptor is of bwrap's child and of no later process with the same number.
func (p *process) readInfo(bwrap int) {
	defer close(p.told)
	defer p.info.Close()
	var info struct {
		Child int `json:"child-pid"`
	}
	if err := json.NewDecoder(p.info).Decode(&info); err != nil || info.Child <= 0 {
		return // bwrap failed before it had a child; it says why on standard error
	}
	fd, err := unix.PidfdOpen(info.Child, 0)
	if err != nil {
		return
	}
	if parent, err := parentOf(info.Child); err != nil || parent != bwrap {
		unix.Close(fd)
		return
	}
	p.mu.Lock()
	p.pid, p.pidfd = info.Child, fd
	p.mu.Unlock()
}

func parentOf(pid int) (int, error) {
	parent, err := statField(pid, 1)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(parent)
}

// statField reads one of the fields behind the command's name, which may itself hold spaces and parentheses: 0 is the state.
func statField(pid, n int) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= n {
		return "", fmt.Errorf("/proc/%d/stat has no field %d behind the name", pid, n)
	}
	return fields[n], nil
}

// finish runs on the thread that forked. It keeps bwrap unreaped until what belongs to it was killed by number.
func (p *process) finish(bwrap int) {
	awaitExit(bwrap)
	p.Kill()
	p.info.SetReadDeadline(time.Now().Add(goneIn))
	<-p.told
	p.Kill() // the number of process 1 may have become known in between
	p.mu.Lock()
	p.bwrap = 0
	p.mu.Unlock()
	err := reap(bwrap)
	if gone := p.awaitGone(); gone != nil {
		err = errors.Join(err, gone)
	}
	hit, left := p.gate.leave()
	if left != nil {
		err = errors.Join(err, left)
	}
	p.hit, p.err = hit, err
	close(p.done)
}

// reap takes a child's status.
func reap(pid int) error {
	child, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	state, err := child.Wait()
	if err == nil && !state.Success() {
		return &exec.ExitError{ProcessState: state}
	}
	return err
}

// awaitExit returns when the child has ended and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// awaitGone returns when process 1 inside has ended, which the kernel reports after everything in its namespace has.
func (p *process) awaitGone() error {
	p.mu.Lock()
	fd := p.pidfd
	p.mu.Unlock()
	if fd < 0 {
		return nil
	}
	defer p.forget()
	end := time.Now().Add(goneIn)
	for {
		left := time.Until(end)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(max(left, 0)/time.Millisecond))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("waiting for process 1 inside: %w", err)
		case n > 0:
			return nil
		case left <= 0:
			return fmt.Errorf("process 1 inside (%d on the host) did not end within %v of being killed", p.Pid(), goneIn)
		}
	}
}

func (p *process) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	unix.Close(p.pidfd)
	p.pidfd = -1
}
