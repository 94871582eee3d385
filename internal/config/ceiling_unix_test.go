//go:build unix

package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACeilingThatOthersCanChangeIsRefused(t *testing.T) {
	for name, open := range map[string]func(w *world) string{
		"the file":   func(w *world) string { return chmod(t, w.policyFile(), 0o666) },
		"its folder": func(w *world) string { return chmod(t, filepath.Dir(w.policyFile()), 0o777) },
		"what it links to": func(w *world) string {
			to := filepath.Join(w.s.Home, "policy.yaml")
			require.NoError(t, os.Rename(w.policyFile(), to))
			require.NoError(t, os.Symlink(to, w.policyFile()))
			return chmod(t, to, 0o622)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).policy("sandbox: {network: none}\n")
			w.load() // the control
			at := open(w)
			var e *InsecureError
			require.ErrorAs(t, w.fails(), &e)
			assert.Equal(t, at, e.Path)
		})
	}
}

// TestOnlyWhoKeepsTheMachinesFolderMayOwnACeiling: a file that was copied into root's folder with its owner is the user's to change.
func TestOnlyWhoKeepsTheMachinesFolderMayOwnACeiling(t *testing.T) {
	assert.Equal(t, "belongs to user 1000, not to root", judge(1000, 0, 0o644, false))
	w := newWorld(t)
	owner, err := keeper(filepath.Dir(w.s.Machine))
	require.NoError(t, err)
	assert.Equal(t, os.Geteuid(), owner)
	owner, err = keeper("/usr")
	require.NoError(t, err)
	assert.Zero(t, owner, "and nobody else there")
	if os.Geteuid() == 0 {
		w.policy("")
		require.NoError(t, os.Lchown(w.policyFile(), 65534, 65534))
		var e *InsecureError
		require.ErrorAs(t, w.fails(), &e)
		assert.Contains(t, e.Error(), "belongs to user 65534, not to root")
		require.NoError(t, os.Lchown(filepath.Dir(w.s.Machine), 65534, 65534))
		assert.ErrorAs(t, w.fails(), &e, "not even in a folder of theirs")
	}
}
