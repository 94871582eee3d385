package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/probe"
	"github.com/kernel-launch/kernel-launch/internal/witness"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// holdAndWait is a launcher whose program has a daemon that left its session and its parents, and a child that no death signal reaches.
func holdAndWait(ctx context.Context) error {
	k, err := Launch(ctx, Spec{
		Environment: "default", Folder: os.Getenv("KERNEL_LAUNCH_TEST_FOLDER"), Stdout: os.Stdout, Stderr: os.Stderr,
		Command: []string{sandbox.HelperTarget, probe.Word, probe.Text(probe.Call{Name: "hold"})},
	})
	if err != nil {
		return err
	}
	k.Wait()
	os.Exit(0)
	return nil
}

// watched is a process of the host by a descriptor, which no later process with its number can be taken for.
type watched struct{ pid, fd int }

// watch opens the processes below a launcher, itself first: bwrap, process 1, and what that has started.
func watch(launcher int, all []witness.Process) (out []watched, err error) {
	for _, p := range all {
		fd, err := unix.PidfdOpen(p.PID, 0)
		if errors.Is(err, unix.ESRCH) && p.PID != launcher {
			continue // one that ended on purpose
		}
		if err != nil {
			return out, err
		}
		out = append(out, watched{p.PID, fd})
	}
	return out, nil
}

// gone waits until all have ended, and says how long that took.
func gone(all []watched) (time.Duration, error) {
	const patience = 5 * time.Second // it takes milliseconds; a machine under load needs more
	begin := time.Now()
	for _, w := range all {
		n, err := 0, error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			left := patience - time.Since(begin)
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}, int(max(left, 0)/time.Millisecond))
		}
		if n == 0 || err != nil {
			return time.Since(begin), fmt.Errorf("process %d lives after %v (%v)", w.pid, time.Since(begin), err)
		}
	}
	return time.Since(begin), nil
}

// victims are who is killed, by the place below the launcher.
var victims = []string{"the launcher", "bwrap", "process 1", "the program"}

// Forty launchers, two at a time, each killed at one of its four processes. The backend alone is killed a hundred times in its contract.
func TestNothingOutlivesAnyOfThem(t *testing.T) {
	require.NoError(t, MakeDefault())
	_, env := runtimeDir(t)
	var mu sync.Mutex
	var took []time.Duration
	var done sync.WaitGroup
	for range 2 {
		done.Go(func() {
			for i := range 20 {
				d, err := killed(t, env, i%len(victims))
				mu.Lock()
				took = append(took, d)
				mu.Unlock()
				if err != nil {
					t.Errorf("%s killed: %v", victims[i%len(victims)], err)
				}
			}
		})
	}
	done.Wait()
	slices.Sort(took)
	t.Logf("all gone after %v in the middle of %d runs, after %v at most", took[len(took)/2], len(took), took[len(took)-1])
}

func killed(t *testing.T, env string, victim int) (time.Duration, error) {
	l := start(t, "hold", env)
	defer l.cmd.Wait()
	defer l.cmd.Process.Kill()
	for settled := 0; settled < probe.Held; {
		line, err := l.out.ReadString('\n')
		if err != nil {
			return 0, fmt.Errorf("%d of %d settled: %w", settled, probe.Held, err)
		}
		if _, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			settled++
		}
	}
	all, err := watch(l.cmd.Process.Pid, tree(t, l.cmd.Process.Pid))
	defer func() {
		for _, w := range all {
			unix.Close(w.fd)
		}
	}()
	if err != nil || len(all) < 6 {
		return 0, fmt.Errorf("launcher, bwrap, process 1, the program, its daemon and its child: %v, %w", all, err)
	}
	if err := unix.PidfdSendSignal(all[victim].fd, unix.SIGKILL, nil, 0); err != nil {
		return 0, err
	}
	return gone(all)
}
