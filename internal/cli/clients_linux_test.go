package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clientPython has the Jupyter tools of testdata/requirements.txt.
func clientPython(t *testing.T) string {
	t.Helper()
	python := os.Getenv("KERNEL_LAUNCH_TEST_PYTHON")
	if python == "" {
		var err error
		python, err = filepath.Abs("../../.tools/venv/bin/python")
		require.NoError(t, err)
	}
	_, err := os.Stat(python)
	require.NoError(t, err, "run make tools")
	return python
}

// play runs one scenario of testdata/clients.
func play(t *testing.T, file, scenario string) {
	t.Helper()
	w := theWorld()
	require.NoError(t, w.err)
	script, err := filepath.Abs("../../testdata/clients/" + file)
	require.NoError(t, err)
	run, err := os.MkdirTemp(base, "run-")
	require.NoError(t, err)
	notebooks, err := os.MkdirTemp(filepath.Dir(w.notebooks), "notebooks-")
	require.NoError(t, err)
	cmd := exec.Command(clientPython(t), script, scenario)
	cmd.Dir = notebooks
	cmd.Env = append(w.env, "XDG_RUNTIME_DIR="+run, "KERNEL_LAUNCH="+w.launcher, "NOTEBOOKS="+notebooks, "PYTHONDONTWRITEBYTECODE=1")
	limit := time.AfterFunc(4*time.Minute, func() { cmd.Process.Kill() })
	defer limit.Stop()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestClients(t *testing.T) {
	for _, scenario := range []string{
		"kernelspec", "conversation", "interrupts", "fifty_megabytes", "restart", "shutdown", "death_is_seen", "ends_with_its_server", "output_of_the_kernel",
		"notebook", "commands",
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			play(t, "client.py", scenario)
		})
	}
}

func TestEightKernelsAtOnce(t *testing.T) { play(t, "client.py", "eight_at_once") }

func TestJupyterServer(t *testing.T) { play(t, "server.py", "whole_life") }

func TestR(t *testing.T) { play(t, "r.py", "whole_life") }

// TestWorkThatMustGoOnInside: walls that break what people do in notebooks are taken down by them.
func TestWorkThatMustGoOnInside(t *testing.T) {
	for _, scenario := range []string{"processes", "system", "libraries", "r"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			play(t, "work.py", scenario)
		})
	}
}
