package witness

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Process is one process of the host; its start tells it from a later one with its number.
type Process struct {
	PID   int
	start string
}

// String is its command line, as far as it is still there.
func (p Process) String() string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	return fmt.Sprintf("process %d: %q", p.PID, line)
}

// status reads a process's parent, state and start.
func status(pid int) (parent int, state, start string, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "", "", false
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	parent, err = strconv.Atoi(f[1])
	return parent, f[0], f[19], err == nil
}

// Below is a process and everything below it, level by level.
func Below(root int) ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	children := map[int][]Process{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, _, start, ok := status(pid); ok {
			children[parent] = append(children[parent], Process{pid, start})
		}
	}
	_, _, start, ok := status(root)
	if !ok {
		return nil, fmt.Errorf("there is no process %d", root)
	}
	all := []Process{{root, start}}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i].PID]...)
	}
	return all, nil
}

// Living are those that still run. One that only waits to be reaped has ended.
func Living(all []Process) (left []Process) {
	for _, p := range all {
		if _, state, start, ok := status(p.PID); ok && start == p.start && state != "Z" && state != "X" {
			left = append(left, p)
		}
	}
	return left
}

// Wait returns those that still run after a time.
func Wait(all []Process, limit time.Duration) []Process {
	end := time.Now().Add(limit)
	left := Living(all)
	for len(left) > 0 && time.Now().Before(end) {
		<-time.After(5 * time.Millisecond)
		left = Living(left)
	}
	return left
}
