package launcher

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatWasPlantedBeforeARestartIsToldAtTheEnd: by then the folder is an island, which nobody would look at.
func TestWhatWasPlantedBeforeARestartIsToldAtTheEnd(t *testing.T) {
	nb, more := folder(t), folder(t)
	write(t, nb+"/.venv/pyvenv.cfg", "", 0o644)
	write(t, more+"/.envrc", "", 0o644)
	k, err := try(t, Spec{Folder: nb})
	require.NoError(t, err)
	cell(t, dial(t, k), "import os; os.mkdir('.git')")
	k.mu.Lock()
	k.spec.Overrides.Write = append(k.spec.Overrides.Write, more)
	k.mu.Unlock()
	require.NoError(t, k.Restart(within(t, time.Minute)))
	said := strings.Join(k.Kill().Notes, "\n")
	assert.Contains(t, said, nb+"/.git is new since the kernel was started")
	assert.NotContains(t, said, ".venv", "it stood there, sealed, from the beginning")
	assert.NotContains(t, said, ".envrc", "it stood there before the folder was shown")
}
