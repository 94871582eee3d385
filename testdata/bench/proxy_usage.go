package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what a process has used, user and system together, threads that have ended included: the same as utime + stime in its stat, in
// nanoseconds instead of ticks.
func processorTime(pid int) (time.Duration, error) {
	const sched = 2 // CPUCLOCK_SCHED of the kernel's clock numbers
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0, fmt.Errorf("the processor clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// resident is what a process holds in memory, in MB.
func resident(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			kb, err := strconv.ParseFloat(f[1], 64)
			return kb * 1024 / 1e6, err
		}
	}
	return 0, fmt.Errorf("status of %d has no VmRSS", pid)
}

func descriptors(pid int) (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries), err
}
