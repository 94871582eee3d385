package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// probeHog takes memory, MiB by MiB, and is the first to be killed should anything run out of it.
func probeHog(args []string) int {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		fmt.Println(err)
		return 1
	}
	n, _ := strconv.Atoi(args[0])
	var all [][]byte
	for range n {
		block := make([]byte, 1<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		all = append(all, block)
	}
	fmt.Println("took", len(all))
	return 0
}

// probeCompute computes for as many milliseconds.
func probeCompute(args []string) int {
	n, _ := strconv.Atoi(args[0])
	for end := time.Now().Add(time.Duration(n) * time.Millisecond); time.Now().Before(end); {
		_ = 0
	}
	return 0
}

// forks starts sleeping processes until one is refused.
const forks = "i=0; while [ $i -lt 60 ]; do sleep 20 & i=$((i+1)); echo $i; done; echo through"

// grouped are the limits that a group of this user's holds here; an ordinary user without a delegated one has none.
func grouped(t *testing.T) map[string]Group {
	t.Helper()
	out := map[string]Group{}
	for _, l := range (Limits{}).limits() {
		h := holdOne(l, Facts{Goos: "linux", UID: os.Geteuid(), Control: observeControl()})
		if h.tier != "" && h.tier != TierRlimit {
			out[l.name] = Group{Tier: h.tier, Parent: h.parent}
		}
	}
	return out
}

// bounded runs a command under limits and returns what it wrote, and which limit it ran into.
func (w *world) bounded(l Limits, argv ...string) (string, *LimitHit, error) {
	w.t.Helper()
	w.policy.Limits = l
	out, err := memory("output", nil)
	require.NoError(w.t, err)
	defer out.Close()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	p, err := Default().Start(ctx, w.plan(), Command{Argv: argv, Stdout: out, Stderr: out})
	require.NoError(w.t, err)
	status := p.Wait()
	text, err := io.ReadAll(io.NewSectionReader(out, 0, 1<<20))
	require.NoError(w.t, err)
	return string(text), p.Hit(), status
}

// left are the groups of this process that still are where some are made.
func left(t *testing.T) (all []string) {
	t.Helper()
	for _, g := range grouped(t) {
		found, err := filepath.Glob(fmt.Sprintf("%s/kernel-launch-%d-*", g.Parent, os.Getpid()))
		require.NoError(t, err)
		all = append(all, found...)
	}
	return all
}

func requireGroup(t *testing.T, limit string) {
	t.Helper()
	if _, ok := grouped(t)[limit]; !ok {
		require.NotZero(t, os.Geteuid(), "root has a group for %s on every machine that tests run on", limit)
		t.Skip("this user has no group that could hold it")
	}
}

func TestMemoryBeyondTheLimitEndsTheCommandAndIsNamed(t *testing.T) {
	requireGroup(t, "memory")
	w := newWorld(t)
	require.Equal(t, "took 120\n", w.outside("hog", "120"))
	text, hit, err := w.bounded(Limits{}, HelperTarget, "probe", "hog", "120")
	require.NoError(t, err)
	require.Equal(t, "took 120\n", text, "without a limit the same goes through inside")
	require.Nil(t, hit)

	text, hit, err = w.bounded(Limits{Memory: 64 << 20}, HelperTarget, "probe", "hog", "120")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 137, exit.ExitCode())
	assert.Empty(t, text)
	require.NotNil(t, hit)
	assert.Equal(t, "memory", hit.Limit)
	assert.EqualValues(t, 64<<20, hit.Value)
	assert.InDelta(t, 64<<20, hit.Peak, 4<<20)
	assert.Equal(t, 1, hit.Kills)
	assert.Empty(t, left(t))
}

func TestMemoryBelowTheLimitIsNoHit(t *testing.T) {
	requireGroup(t, "memory")
	w := newWorld(t)
	text, hit, err := w.bounded(Limits{Memory: 200 << 20, Processes: 200, CPUs: 1}, HelperTarget, "probe", "hog", "60")
	require.NoError(t, err)
	assert.Equal(t, "took 60\n", text)
	assert.Nil(t, hit)
	assert.Empty(t, left(t))
}

func TestWhatLiesInTmpCountsAsMemory(t *testing.T) {
	requireGroup(t, "memory")
	w := newWorld(t)
	l := Limits{Memory: 48 << 20, Tmp: 200 << 20}
	text, hit, _ := w.bounded(l, HelperTarget, "probe", "fill", "/tmp/f", "100000")
	assert.NotContains(t, text, "ok")
	require.NotNil(t, hit)
	assert.Equal(t, "memory", hit.Limit)
	l.Memory = 0
	text, hit, err := w.bounded(l, HelperTarget, "probe", "fill", "/tmp/f", "100000")
	require.NoError(t, err)
	assert.Equal(t, "ok\n", text, "the control: /tmp itself has the room")
	assert.Nil(t, hit)
}

func TestProcessesBeyondTheLimitAreRefused(t *testing.T) {
	requireGroup(t, "processes")
	w := newWorld(t)
	text, hit, err := w.bounded(Limits{}, "/bin/sh", "-c", forks)
	require.NoError(t, err)
	require.Contains(t, text, "through", "without a limit the same goes through")
	require.Nil(t, hit)

	text, hit, err = w.bounded(Limits{Processes: 20}, "/bin/sh", "-c", forks)
	require.Error(t, err, text)
	assert.NotContains(t, text, "through")
	assert.Contains(t, text, "\n20\n")
	require.NotNil(t, hit)
	assert.Equal(t, LimitHit{Limit: "processes", Value: 20, Peak: hit.Peak, Kills: hit.Kills}, *hit)
	assert.Positive(t, hit.Kills)
	assert.Empty(t, left(t))
}

func TestProcessorTimeIsShared(t *testing.T) {
	requireGroup(t, "cpus")
	w := newWorld(t)
	for cpus, throttled := range map[float64]bool{0.1: true, 2: false} {
		w.policy.Limits = Limits{CPUs: cpus}
		p, err := Default().Start(t.Context(), w.plan(), Command{Argv: []string{HelperTarget, "probe", "compute", "400"}, Stderr: os.Stderr})
		require.NoError(t, err)
		groups := left(t)
		require.Len(t, groups, 1)
		var times int64
		for ended := false; !ended; {
			select {
			case <-p.Done():
				ended = true
			case <-time.After(time.Millisecond):
				times = max(times, field(kernelText(groups[0]+"/cpu.stat"), "nr_throttled"))
			}
		}
		require.NoError(t, p.Wait())
		assert.Equal(t, throttled, times > 0, "%v CPUs: held back %d times", cpus, times)
	}
	assert.Empty(t, left(t))
}

func TestWithoutLimitsNoGroupIsMade(t *testing.T) {
	w := newWorld(t)
	require.Nil(t, w.plan().Bounds)
	f, err := Observe(w.policy)
	require.NoError(t, err)
	require.Nil(t, f.Control, "nothing is looked at either")
	c := w.converse(t.Context(), "free")
	c.alive("x")
	assert.Empty(t, left(t))
}

func TestAStartThatFailsLeavesNoGroup(t *testing.T) {
	requireGroup(t, "memory")
	w := newWorld(t)
	w.policy.Limits = Limits{Memory: 64 << 20, Processes: 20}
	plan := w.plan()
	plan.Program = w.base + "/gone"
	_, err := Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget}})
	require.Error(t, err)
	assert.Empty(t, left(t))

	plan = w.plan()
	plan.Bounds.Groups[0].Parent = w.base // no control group
	_, err = Default().Start(t.Context(), plan, Command{Argv: []string{HelperTarget}})
	require.ErrorContains(t, err, plan.Bounds.Groups[0].Tier.String())
	names, err := filepath.Glob(w.base + "/kernel-launch-*")
	require.NoError(t, err)
	assert.Empty(t, names)
	assert.Empty(t, left(t))
}

func TestWhatCannotEnterItsGroupIsEnded(t *testing.T) {
	requireGroup(t, "memory")
	w := newWorld(t)
	w.policy.Limits = Limits{Memory: 64 << 20}
	g, err := newGate(t.Context(), w.plan().Bounds)
	require.NoError(t, err)
	require.ErrorContains(t, g.enter(1<<22), "no such process")
	hit, err := g.leave()
	require.NoError(t, err)
	assert.Nil(t, hit)
	assert.Empty(t, left(t))
}

// A launcher that is killed while bubblewrap is held leaves nothing that runs.
func TestHeldBubblewrapRefusesToGoOnAlone(t *testing.T) {
	w := newWorld(t)
	options := arguments(w.plan(), func(Mount) string { return "" })
	require.Equal(t, firstOption, options[0])
	args, err := memory("options", []byte(strings.Join(options[1:], "\x00")))
	require.NoError(t, err)
	defer args.Close()
	r, ours, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(w.plan().Program, "--args", "3", "--args", "4", "--", HelperTarget, "probe", "exit")
	cmd.ExtraFiles = []*os.File{r, args}
	ours.Close()
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "--unshare-user")
}

func TestGroupsOfTheDeadAreSwept(t *testing.T) {
	requireGroup(t, "memory")
	parent := grouped(t)["memory"].Parent
	mine := newGroupName()
	dead := mine
	dead.pid, dead.start = 1<<22, "1"
	reused := mine
	reused.start = "1"
	for _, name := range []string{mine.String(), dead.String(), reused.String()} {
		require.NoError(t, os.Mkdir(filepath.Join(parent, name), 0o755))
		defer os.Remove(filepath.Join(parent, name))
	}
	sweep(parent)
	assert.DirExists(t, filepath.Join(parent, mine.String()))
	assert.NoDirExists(t, filepath.Join(parent, dead.String()))
	assert.NoDirExists(t, filepath.Join(parent, reused.String()))
}

func TestAPlanWithLimitsSaysWhatHoldsThem(t *testing.T) {
	w := newWorld(t)
	w.policy.Limits = Limits{Memory: 64 << 20, Processes: 20, CPUs: 0.5, BestEffort: true}
	plan := w.plan()
	require.NotNil(t, plan.Bounds)
	for _, l := range ObserveLimits() {
		if l.Tier == "" {
			assert.Contains(t, guarantee(t, plan.Missing, "limits."+l.Limit).Text, l.Why)
			continue
		}
		assert.Contains(t, guarantee(t, plan.Enforced, "limits."+l.Limit).Text, "("+l.Tier.String()+")")
	}
}

func TestTheGroupsOfAKilledLauncherGoWithTheNextStart(t *testing.T) {
	requireGroup(t, "memory")
	w := newWorld(t)
	w.policy.Limits = Limits{Memory: 64 << 20}
	policy, err := json.Marshal(w.policy)
	require.NoError(t, err)
	launcher := exec.Command(w.policy.Helper, "probe", "start", string(policy), "daemon", marker(t))
	out, err := launcher.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, launcher.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ok\n", line)
	theirs, err := filepath.Glob(fmt.Sprintf("%s/kernel-launch-%d-*", grouped(t)["memory"].Parent, launcher.Process.Pid))
	require.NoError(t, err)
	require.Len(t, theirs, 1)
	require.NoError(t, launcher.Process.Kill())
	launcher.Wait()
	require.DirExists(t, theirs[0], "nobody was there to remove it")
	require.Eventually(t, func() bool { return kernelText(theirs[0]+"/cgroup.procs") == "" }, time.Minute, 5*time.Millisecond)
	require.Eventually(t, func() bool {
		w.bounded(Limits{Memory: 64 << 20}, HelperTarget, "probe", "exit")
		_, err := os.Stat(theirs[0])
		return os.IsNotExist(err)
	}, 10*time.Second, 20*time.Millisecond)
}

func BenchmarkGroupsOfAllLimits(b *testing.B) {
	bounds := bounds(Limits{Memory: 64 << 20, Processes: 20, CPUs: 1}, hold(Limits{Memory: 64 << 20, Processes: 20, CPUs: 1}, Facts{Goos: "linux", Control: observeControl()}))
	if bounds == nil || len(bounds.Groups) == 0 {
		b.Skip("this user has no groups")
	}
	for b.Loop() {
		c, err := confine(b.Context(), bounds)
		require.NoError(b, err)
		require.NoError(b, c.remove())
	}
}

func BenchmarkLookForWhatHoldsLimits(b *testing.B) {
	for b.Loop() {
		observeControl()
	}
}
