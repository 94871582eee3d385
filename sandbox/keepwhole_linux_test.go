package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What reads where bwrap says its child's number goes with the launcher. bwrap must not go by it: its child would wait for the go-ahead for ever.
func TestALauncherThatIsGoneBeforeItIsToldLeavesNobodyWaiting(t *testing.T) {
	w := newWorld(t)
	plan, err := Default().Plan(w.policy)
	require.NoError(t, err)
	ends := func(mark string, endsItself bool) error {
		d := &donation{first: firstFile}
		defer d.close()
		info, argsFD, err := d.fill(plan, endsItself)
		require.NoError(t, err)
		require.NoError(t, info.Close())
		pid, err := fork(plan.Program, []string{"bwrap", "--args", argsFD, "--", "/bin/true", mark}, Command{Stderr: os.Stderr}, d.files)
		require.NoError(t, err)
		return reap(pid)
	}
	alone := marker(t) + "-alone"
	assert.Error(t, ends(alone, false), "the control")
	for _, left := range withMarker(t, alone) { // it waits, and nobody else would end it
		pid, err := strconv.Atoi(strings.Split(left, string(filepath.Separator))[2])
		require.NoError(t, err)
		require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	}
	assert.NoError(t, ends(marker(t), true))
	requireGone(t, marker(t))
}
