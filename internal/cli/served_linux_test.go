package cli

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/launcher"
)

// served is a kernel that a client has started by the command line of a kernelspec.
type served struct {
	t      *testing.T
	env    []string // beside the world's
	cmd    *exec.Cmd
	pid    int // of kernel-launch: cmd may be a server that started it
	folder string
	conn   *jupyter.Connection
	client *jupyter.Client
	said   witness.Output
}

// serve starts a kernel in a process group of its own, and waits until it answers.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	return serveWith(t, nil, args...)
}

func serveWith(t *testing.T, env []string, args ...string) *served {
	t.Helper()
	s := offered(t)
	s.env = env
	s.start(append([]string{theWorld().launcher}, s.arguments(args...)...)...)
	s.pid = s.cmd.Process.Pid
	s.dial()
	return s
}

// offered has a folder with a connection file, and no kernel yet.
func offered(t *testing.T) *served {
	t.Helper()
	w := theWorld()
	require.NoError(t, w.err)
	dir, err := os.MkdirTemp(filepath.Dir(w.notebooks), "notebooks-")
	require.NoError(t, err)
	p := witness.FreePorts(t, 5)
	c := &jupyter.Connection{
		Transport: "tcp", IP: "127.0.0.1", Key: jupyter.NewKey(), SignatureScheme: "hmac-sha256",
		Shell: p[0], IOPub: p[1], Stdin: p[2], Control: p[3], HB: p[4],
	}
	b, err := c.JSON()
	require.NoError(t, err)
	s := &served{t: t, folder: dir, conn: c}
	require.NoError(t, os.WriteFile(s.file(), b, 0o600))
	return s
}

func (s *served) file() string { return s.folder + ".json" }

func (s *served) arguments(more ...string) []string {
	return append([]string{"--env", "default", "-f", s.file()}, more...)
}

func (s *served) start(argv ...string) {
	s.t.Helper()
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = append(s.env, theWorld().env...), s.folder, &s.said
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(s.t, s.cmd.Start())
	s.t.Cleanup(func() { s.cmd.Process.Kill(); s.cmd.Wait() })
}

// dial waits for the launcher's listeners, and for the kernel behind them.
func (s *served) dial() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	network, address := s.conn.Address(jupyter.Shell)
	require.Eventually(s.t, func() bool {
		c, err := net.Dial(network, address)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 30*time.Second, 20*time.Millisecond)
	var err error
	s.client, err = jupyter.Dial(ctx, s.conn)
	require.NoError(s.t, err, &s.said)
	s.t.Cleanup(func() { s.client.Close() })
	_, err = s.client.KernelInfo(ctx)
	require.NoError(s.t, err, &s.said)
}

// cell runs code and returns what it printed and its exception's name. at is told of each piece of output.
func (s *served) cell(code string, at func(text string)) (printed, exception string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	var out strings.Builder
	reply, err := s.client.Execute(ctx, code, jupyter.ExecuteOptions{Output: func(m jupyter.Message) {
		if text, ok := m.Stream(); ok {
			out.WriteString(text.Text)
			if at != nil {
				at(text.Text)
			}
		}
	}})
	require.NoError(s.t, err)
	if reply.Exception != nil {
		exception = reply.Exception.Name
	}
	return strings.TrimSpace(out.String()), exception
}

// requireAlive says that the kernel computes.
func (s *served) requireAlive() {
	s.t.Helper()
	printed, exception := s.cell("print(6 * 7)", nil)
	require.Empty(s.t, exception)
	require.Equal(s.t, "42", printed)
}

// processes are kernel-launch and all that it started.
func (s *served) processes() []witness.Process {
	s.t.Helper()
	all, err := witness.Below(s.pid)
	require.NoError(s.t, err)
	require.GreaterOrEqual(s.t, len(all), 4, "the launcher, bwrap, process 1, the kernel: %v", all)
	return all
}

// status waits for the end of a kernel-launch that serve started.
func (s *served) status() int {
	s.t.Helper()
	limit := time.AfterFunc(30*time.Second, func() { s.cmd.Process.Kill() })
	defer limit.Stop()
	s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// ended is what is remembered of it.
func (s *served) ended() launcher.Ended {
	s.t.Helper()
	out, err := theWorld().command("kernel", "list", "--all", "--json").Output()
	require.NoError(s.t, err)
	var list struct{ Items []launcher.Ended }
	require.NoError(s.t, json.Unmarshal(out, &list))
	for _, e := range list.Items {
		if e.Folder == s.folder {
			return e
		}
	}
	require.Fail(s.t, "nothing is remembered of it")
	return launcher.Ended{}
}
