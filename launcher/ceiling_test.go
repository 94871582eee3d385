package launcher

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// TestTheMachinesCeilingHoldsForEveryPolicy: read from files or made by an embedder, with flags or without.
func TestTheMachinesCeilingHoldsForEveryPolicy(t *testing.T) {
	base := t.TempDir()
	h := host{dirs: dirs.Dirs{Machine: filepath.Join(base, "etc"), Config: filepath.Join(base, "config"), Home: base}, folder: base}
	require.NoError(t, os.Mkdir(h.dirs.Machine, 0o755))
	wide := DefaultConfig()
	wide.Sandbox.Network = sandbox.NetworkHost
	specs := map[string]Spec{"files": {Overrides: Overrides{Network: "host"}}, "embedder": {Config: wide}}
	for name, s := range specs {
		c, err := s.config(h)
		require.NoError(t, err)
		assert.Equal(t, sandbox.NetworkHost, c.Sandbox.Network, "the control: %s", name)
	}
	policy := filepath.Join(h.dirs.Machine, "policy.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("sandbox: {network: none}\n"), 0o644))
	for name, s := range specs {
		c, err := s.config(h)
		require.NoError(t, err)
		assert.Equal(t, sandbox.NetworkNone, c.Sandbox.Network, name)
		assert.NotEmpty(t, c.Clips(), name)
	}
	assert.Equal(t, sandbox.NetworkHost, wide.Sandbox.Network, "the embedder's own stays as it is")
	require.NoError(t, os.WriteFile(policy, []byte("sandbox: {network: noone}\n"), 0o644))
	for name, s := range specs {
		_, err := s.config(h)
		assert.Error(t, err, name)
	}
}
