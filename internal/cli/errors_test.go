package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/kernelspec"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// What a machine in order cannot be made to say is explained here: no bubblewrap, one too old, user namespaces that are refused.
func TestEveryKindOfErrorHasItsCodeStatusAndNextStep(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   string
		status int
		remedy string
	}{
		{errors.New("anything"), "failed", 1, ""},
		{&refusedError{"not approved", "say --yes"}, "refused", 3, "say --yes"},
		{&noKernelError{"abc"}, "no-kernel", 4, "kernel-launch kernel list"},
		{launcher.ErrEnded, "no-kernel", 4, "kernel-launch kernel list"},
		{&envs.NameError{Name: "../x"}, "name", 2, "letters"},
		{&envs.LanguageError{Language: "cobol"}, "language", 2, "--language"},
		{&envs.NotFoundError{Name: "x"}, "no-environment", 4, "kernel-launch env create x"},
		{&envs.ExistsError{Name: "x"}, "exists", 1, "kernel-launch env show x"},
		{&envs.BusyError{Name: "x"}, "busy", 5, "kernel-launch kernel list"},
		{&envs.BrokenError{Name: "x"}, "broken-environment", 1, "env remove x --yes && kernel-launch env create x"},
		{&envs.InterpreterError{Language: "python"}, "no-interpreter", 1, "--python"},
		{&envs.NoKernelError{Package: "ipykernel"}, "no-kernel-package", 1, "install ipykernel"},
		{&envs.NoKernelError{Package: "IRkernel"}, "no-kernel-package", 1, "r-cran-irkernel"},
		{&config.FaultError{File: "/c/config.yaml", Line: 7}, "configuration", 1, "edit /c/config.yaml, line 7"},
		{&config.FaultError{}, "usage", 2, "--help"},
		{&config.InsecureError{Path: "/c", Reason: "can be written by others"}, "configuration", 1, "chmod go-w /c"},
		{&config.InsecureError{Path: "/c", Reason: "belongs to user 7, not to 8 or root"}, "configuration", 1, "chown \"$USER\" /c"},
		{&config.InsecureError{Path: "/c", Reason: "belongs to user 7, not to root"}, "configuration", 1, "chown root /c"},
		{&config.CeilingError{File: "/etc/kernel-launch/policy.yaml", Err: errors.New("x")}, "configuration", 1, "administrator"},
		{sandbox.Classify("bwrap: Unknown option --size", "bubblewrap 0.4.0", sandbox.Machine{}), "sandbox-too-old", 1, "install bubblewrap 0.8.0 or newer"},
		{sandbox.Classify("bwrap: setting up uid map: Permission denied", "bubblewrap 0.9.0", sandbox.Machine{AppArmorRestricts: true}), "sandbox-userns-refused", 1, "profile for bwrap"},
		{&sandbox.UnavailableError{Cause: sandbox.CauseMissing, Remedy: "install the package bubblewrap"}, "sandbox-missing", 1, "install the package bubblewrap"},
		{&sandbox.PathError{Use: "folder", Path: "/", Broad: true}, "folder-too-broad", 1, "mkdir -p"},
		{&sandbox.PathError{Use: "read", Path: "/gone"}, "path", 1, "sandbox show"},
		{&sandbox.PathError{Use: "read", Path: "/etc", Broad: true}, "folder-too-broad", 1, "name what is needed in it: --read /etc/FOLDER"},
		{&sandbox.UnsupportedError{Key: "gpu", Value: "nvidia"}, "unsupported", 1, "leave gpu out"},
		{&sandbox.UnsupportedError{Key: "limits.cpus", Reason: "cannot be held here"}, "unsupported", 1, "limits.best_effort: true"},
		{&launcher.ProgramError{Command: "x", Status: 126}, "program", 126, ""},
		{&launcher.PortTakenError{Channel: "shell"}, "port-taken", 1, "Jupyter chooses new ports"},
		{&jupyter.FaultError{}, "connection-file", 1, "Jupyter"},
		{&kernelspec.NotFoundError{}, "no-kernelspec", 4, "kernelspec list"},
		{&kernelspec.NameError{}, "name", 2, "--help"},
		{&kernelspec.ForeignError{}, "foreign-kernelspec", 3, "--name"},
	} {
		for _, err := range []error{c.err, fmt.Errorf("somewhere: %w", c.err), errors.Join(errors.New("first"), c.err)} {
			x := explain(err)
			assert.Equal(t, c.code, x.Code, "%T", c.err)
			assert.Equal(t, c.status, x.status, "%T", c.err)
			assert.Contains(t, x.Remedy, c.remedy, "%T", c.err)
			assert.Equal(t, err.Error(), x.Message)
		}
	}
}

// say runs one command line in this process.
func say(t *testing.T, env map[string]string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &errs, getenv: func(k string) string { return env[k] }}
	status = a.run(context.Background(), args)
	return status, out.String(), errs.String()
}

func TestWhatOthersChoseIsMadeSafeToPrint(t *testing.T) {
	env := map[string]string{"HOME": t.TempDir()}
	status, out, errs := say(t, env, "env", "show", "x\x1b]0;title\x07")
	assert.NotZero(t, status)
	assert.Empty(t, out)
	assert.NotContains(t, errs, "\x1b")
	status, out, _ = say(t, env, "env", "show", "x\x1b]0;title\x07", "--json")
	assert.NotZero(t, status)
	assert.NotContains(t, out, "\x1b")
	var one map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &one))
}

func TestAnswersToAQuestion(t *testing.T) {
	a := &app{in: strings.NewReader("y\n"), err: &bytes.Buffer{}}
	var refused *refusedError
	require.ErrorAs(t, a.ask("Remove?", "say --yes"), &refused, "a pipe is nobody")
	assert.Equal(t, "say --yes", refused.remedy)
}

func TestAges(t *testing.T) {
	now := time.Date(2030, 1, 10, 0, 0, 0, 0, time.UTC)
	for want, d := range map[string]time.Duration{"0s": 0, "59s": 59 * time.Second, "1m": time.Minute, "59m": 59 * time.Minute, "1h": time.Hour, "47h": 47 * time.Hour, "2d": 48 * time.Hour} {
		assert.Equal(t, want, since(now.Add(-d), now))
	}
	assert.Equal(t, "no running kernels", count(0, "running kernel"))
	assert.Equal(t, "1 environment", count(1, "environment"))
	assert.Equal(t, "2 environments", count(2, "environment"))
}
