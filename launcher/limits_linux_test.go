package launcher

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// bomb is a program that takes 400 MiB, and would be the first to be killed should the machine run out of memory.
const bomb = "open('/proc/self/oom_score_adj', 'w').write('1000')\nx = []\nfor i in range(100): x.append(bytearray(4 << 20))\nprint('took', len(x))"

// forkBomb starts at most 60 processes that wait, and says how many there were.
const forkBomb = "import os, time\nn = 0\nwhile n < 60:\n    try: p = os.fork()\n    except BlockingIOError: break\n    if p == 0: time.sleep(20); os._exit(0)\n    n += 1\nprint('had', n)"

// tierOf says what holds a limit for this user here.
func tierOf(t *testing.T, limit string) sandbox.Tier {
	t.Helper()
	for _, l := range sandbox.ObserveLimits() {
		if l.Limit == limit {
			return l.Tier
		}
	}
	require.Fail(t, "no limit "+limit)
	return ""
}

func TestAMemoryBombIsStoppedByItsLimit(t *testing.T) {
	out, exit := python(t, Spec{}, bomb)
	require.Zero(t, exit.Code)
	require.Equal(t, "took 100", out, "the control: without a limit the same goes through")

	out, exit = python(t, Spec{Overrides: Overrides{Memory: "200MiB"}}, bomb)
	assert.NotContains(t, out, "took")
	if tierOf(t, "memory") == sandbox.TierRlimit {
		assert.Equal(t, 1, exit.Code)
		assert.Contains(t, out, "MemoryError")
		return
	}
	assert.Equal(t, 137, exit.Code)
	assert.Equal(t, ReasonLimit, exit.Reason)
	require.NotNil(t, exit.Limit)
	assert.Equal(t, 1, exit.Limit.Kills)
	assert.True(t, strings.HasPrefix(exit.String(), "the kernel was ended by its memory limit of 200MiB (it used 200MiB"), exit.String())
}

func TestAMemoryBombInACellEndsTheKernelWithItsLimit(t *testing.T) {
	if tierOf(t, "memory") == sandbox.TierRlimit {
		require.NotZero(t, os.Geteuid())
		t.Skip("a limit of single processes ends none: the cell gets a MemoryError")
	}
	k := launch(t, Spec{Overrides: Overrides{Memory: "300MiB"}})
	c := dial(t, k)
	printed, fault := cell(t, c, "print(6 * 7)")
	require.Nil(t, fault)
	require.Equal(t, "42", printed)
	go c.Execute(within(t, 20*time.Second), "x = []\nwhile True: x.append(bytearray(4 << 20))", jupyter.ExecuteOptions{})
	select {
	case <-k.Done():
	case <-time.After(20 * time.Second):
		require.Fail(t, "the kernel lives")
	}
	exit := k.Wait()
	assert.Equal(t, ReasonLimit, exit.Reason, exit.String())
	assert.Equal(t, 137, exit.Code)
	assert.Contains(t, exit.String(), "sandbox.limits.memory")
}

func TestAForkBombInACellIsRefused(t *testing.T) {
	k := launch(t, Spec{})
	printed, fault := cell(t, dial(t, k), forkBomb)
	require.Nil(t, fault)
	require.Equal(t, "had 60", printed, "the control")
	k.Kill()

	k = launch(t, Spec{Overrides: Overrides{Processes: "30"}})
	c := dial(t, k)
	printed, fault = cell(t, c, forkBomb)
	require.Nil(t, fault)
	assert.Regexp(t, `^had [1-3]?\d$`, printed)
	printed, fault = cell(t, c, "print(6 * 7)")
	require.Nil(t, fault, "the kernel goes on")
	assert.Equal(t, "42", printed)
	assert.Nil(t, k.Kill().Limit, "what was asked to end needs no other reason")
}

func TestAProgramThatFailsForWantOfProcessesSaysSo(t *testing.T) {
	if tierOf(t, "processes") == sandbox.TierRlimit {
		require.NotZero(t, os.Geteuid())
		t.Skip("nothing counts what a limit of single processes refuses")
	}
	out, exit := python(t, Spec{Overrides: Overrides{Processes: "10"}}, "import os, time\nfor i in range(60):\n    if os.fork() == 0: time.sleep(20); os._exit(0)")
	assert.Contains(t, out, "BlockingIOError")
	assert.Equal(t, ReasonExited, exit.Reason)
	assert.Contains(t, exit.String(), "by its limit of 10 (sandbox.limits.processes)")
}
