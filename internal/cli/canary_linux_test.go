package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A package can bring a .pth file, whose lines run in every interpreter of the environment, even with -I. So none may start outside of a sandbox,
// whatever is done with the environment.
func TestNoInterpreterOfAnEnvironmentStartsOutside(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	url, err := theIndex()
	require.NoError(t, err)
	config := filepath.Join(t.TempDir(), "kernel-launch")
	require.NoError(t, os.Mkdir(config, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(config, "config.yaml"), []byte("install: {index: \""+url+"\"}\n"), 0o600))

	ran := filepath.Join(base, "canary-ran")
	current := filepath.Join(w.home, ".local/share/kernel-launch/envs/python/canary/current")
	sites, err := filepath.Glob(current + "/lib/python3*/site-packages")
	require.NoError(t, err)
	require.Len(t, sites, 1)
	line := fmt.Sprintf("import os; os.access(%q, os.W_OK) and open(%q, 'w').close()\n", base, ran)
	require.NoError(t, os.WriteFile(filepath.Join(sites[0], "canary.pth"), []byte(line), 0o644))

	require.NoError(t, exec.Command(filepath.Join(current, "bin", "python"), "-I", "-c", "pass").Run())
	require.FileExists(t, ran, "the control: outside it runs")
	require.NoError(t, os.Remove(ran))

	for _, args := range [][]string{
		{"env", "show", "canary"},
		{"env", "list"},
		{"status"},
		{"install", "--env", "canary", "--dry-run", "demo-leaf"},
		{"install", "--env", "canary", "--yes", "demo-leaf", "demo-core==1.0"},
		{"install", "--env", "canary", "--yes", "demo-core==2.0"},
		{"uninstall", "--env", "canary", "--yes", "demo-leaf"},
		{"env", "bytecode", "canary"},
		{"kernelspec", "install", "--env", "canary"},
		{"sandbox", "show", "--env", "canary"},
		{"eval", "--env", "canary", "import demo_core"},
		{"env", "remove", "canary", "--yes"},
	} {
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Dir(config))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		assert.NoFileExists(t, ran, "%v", args)
	}
}
