package launcher

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/probe"
	"github.com/kernel-launch/kernel-launch/internal/witness"
	"github.com/kernel-launch/kernel-launch/sandbox"
	"github.com/kernel-launch/kernel-launch/sandbox/selftest"
)

// attempts makes calls through a launcher, as the program that it starts, and returns what they came to and what the launcher had planned.
func attempts(t *testing.T, s Spec, calls ...probe.Call) ([]probe.Outcome, *sandbox.Plan) {
	t.Helper()
	var out, said witness.Output
	s.Command, s.Stdout, s.Stderr = []string{sandbox.HelperTarget, probe.Word, probe.Text(calls...)}, &out, &said
	k := launch(t, s)
	require.Zero(t, k.Wait().Code, "%s%s", out.String(), said.String())
	var all []probe.Outcome
	for d := json.NewDecoder(strings.NewReader(out.String())); ; {
		var o probe.Outcome
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err, out.String())
		}
		all = append(all, o)
	}
	require.Len(t, all, len(calls), out.String())
	return all, k.Plan().Sandbox
}

// requireWorks is the control of attempts: without a launcher each of them works.
func requireWorks(t *testing.T, calls ...probe.Call) []probe.Outcome {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	all, err := selftest.Outside(within(t, time.Minute), self, calls...)
	require.NoError(t, err)
	for i, o := range all {
		require.True(t, o.Did, "outside, %v: %v", calls[i], o)
	}
	return all
}

// planted are sockets behind which a program of the user's acts for whoever connects, by the variable that names them.
var planted = map[string]string{
	"docker.sock":                "DOCKER_HOST=unix://",
	"podman/podman.sock":         "CONTAINER_HOST=unix://",
	"containerd/containerd.sock": "CONTAINERD_ADDRESS=",
	"bus":                        "DBUS_SESSION_BUS_ADDRESS=unix:path=",
	"agent.1":                    "SSH_AUTH_SOCK=",
	"gnupg/S.gpg-agent":          "GPG_AGENT_INFO=",
	".X11-unix/X0":               "DISPLAY=",
	"wayland-0":                  "WAYLAND_DISPLAY=",
	"pulse/native":               "PULSE_SERVER=unix:",
}

// plant puts a live socket at each path below a user's runtime folder, names it in a variable, and adds an abstract one. It returns the attempts to connect.
func plant(t *testing.T) (byPath []probe.Call, abstract probe.Call) {
	t.Helper()
	run := folder(t)
	t.Setenv("XDG_RUNTIME_DIR", run)
	for name, variable := range planted {
		path := filepath.Join(run, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		byPath = append(byPath, listening(t, path))
		key, prefix, _ := strings.Cut(variable, "=")
		t.Setenv(key, prefix+path)
	}
	return byPath, listening(t, "@"+filepath.Join(run, ".X11-unix/X0"))
}

func listening(t *testing.T, address string) probe.Call {
	t.Helper()
	l, err := net.Listen("unix", address)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			c.Close()
		}
	}()
	return probe.Call{Name: "connect", Args: probe.Args{Path: address}}
}

func TestPlantedSocketsAreOutOfReach(t *testing.T) {
	byPath, abstract := plant(t)
	variables := probe.Call{Name: "variables"}
	calls := append(byPath, abstract, variables)
	outside := requireWorks(t, calls...)
	for _, variable := range planted {
		require.Contains(t, outside[len(outside)-1].Detail, variable)
	}
	for _, network := range []string{"none", "allowlist", "host"} {
		t.Run(network, func(t *testing.T) {
			outcomes, plan := attempts(t, Spec{Overrides: Overrides{Network: network}}, calls...)
			for i := range byPath {
				assert.Equal(t, "ENOENT", outcomes[i].String(), byPath[i].Args.Path)
			}
			assertAbstract(t, plan, outcomes[len(byPath)])
			environ := outcomes[len(byPath)+1].Detail
			assert.Contains(t, environ, "HOME=", "the control")
			for _, variable := range planted {
				key, _, _ := strings.Cut(variable, "=")
				assert.NotContains(t, "\n"+environ, "\n"+key+"=")
			}
			assert.NotContains(t, environ, "XDG_RUNTIME_DIR=")
		})
	}
}

// assertAbstract: a severed network has no such socket, the host's has it, and there Landlock keeps it out of reach or the plan says that nothing does.
func assertAbstract(t *testing.T, plan *sandbox.Plan, o probe.Outcome) {
	t.Helper()
	switch {
	case plan.Network != sandbox.NetworkHost:
		assert.Equal(t, "ECONNREFUSED", o.String())
	case plan.Landlock != nil && plan.Landlock.ScopeAbstract:
		assert.Equal(t, "EPERM", o.String())
	default:
		assert.True(t, o.Did)
		said := false
		for _, g := range plan.Missing {
			said = said || strings.Contains(g.Text, "abstract socket")
		}
		assert.True(t, said, "%v", plan.Missing)
	}
}

func TestWhatOthersFollowIsNotMadeInTheFolder(t *testing.T) {
	dir, outside := folder(t), folder(t)
	calls := func(dir string) []probe.Call {
		return []probe.Call{
			{Name: "symlink", Args: probe.Args{Path: dir + "/link", Other: "/etc/passwd"}},
			{Name: "make a pipe", Args: probe.Args{Path: dir + "/pipe"}},
			{Name: "listen", Args: probe.Args{Path: dir + "/s"}},
		}
	}
	requireWorks(t, calls(outside)...)
	private, plan := attempts(t, Spec{Folder: dir}, calls("/tmp")...)
	for i, o := range private {
		assert.True(t, o.Did, "in a private folder, %v: %v", calls("/tmp")[i], o)
	}
	outcomes, _ := attempts(t, Spec{Folder: dir}, calls(dir)...)
	for i, o := range outcomes {
		if plan.Landlock != nil && plan.Landlock.RefuseLinks {
			assert.Equal(t, "EACCES", o.String(), "%v", calls(dir)[i])
		} else {
			assert.True(t, o.Did, "%v", calls(dir)[i])
		}
	}
	if plan.Landlock == nil || !plan.Landlock.RefuseLinks {
		assert.Contains(t, ids(plan.Missing), "links")
	}
}

func ids(all []sandbox.Guarantee) []string {
	var out []string
	for _, g := range all {
		out = append(out, g.ID)
	}
	return out
}
