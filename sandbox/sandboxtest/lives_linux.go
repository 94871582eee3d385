package sandboxtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kernel-launch/kernel-launch/sandbox"
	"github.com/kernel-launch/kernel-launch/sandbox/selftest"
)

// ways are the deaths after which nothing may be left. Each of the sandboxes holds a daemon that has left its session and its parents, and a child that
// no death signal reaches.
func ways(b sandbox.Backend, p sandbox.Policy) map[string]func(*testing.T) (time.Duration, error) {
	return map[string]func(*testing.T) (time.Duration, error){
		"87 the launcher is killed": func(t *testing.T) (time.Duration, error) { return selftest.KilledLauncher(t.Context(), p) },
		"88 the program that holds the sandbox is killed": func(t *testing.T) (time.Duration, error) {
			return selftest.KilledSandbox(t.Context(), b, p, killParent)
		},
		"process 1 is killed": func(t *testing.T) (time.Duration, error) {
			return selftest.KilledSandbox(t.Context(), b, p, func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) })
		},
	}
}

// runs of each way: together a hundred.
const runs = 34

func lives(t *testing.T, b sandbox.Backend, helper string) {
	for name, way := range ways(b, policy(t, helper)) {
		t.Run(name, func(t *testing.T) {
			all := repeat(t, func() (time.Duration, error) { return way(t) })
			if len(all) > 0 {
				slices.Sort(all)
				t.Logf("all gone after %v in the middle of %d runs, after %v at most", all[len(all)/2], len(all), all[len(all)-1])
			}
		})
	}
}

// repeat does it as often as is asked, two at a time.
func repeat(t *testing.T, once func() (time.Duration, error)) (all []time.Duration) {
	var mu sync.Mutex
	var done sync.WaitGroup
	for range 2 {
		done.Go(func() {
			for range runs / 2 {
				took, err := once()
				mu.Lock()
				if err == nil {
					all = append(all, took)
				} else {
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	done.Wait()
	return all
}

// killParent kills what started process 1.
func killParent(pid int) error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return err
	}
	var state string
	var parent int
	if _, err := fmt.Sscan(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), &state, &parent); err != nil {
		return err
	}
	return syscall.Kill(parent, syscall.SIGKILL)
}
