package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
	"github.com/kernel-launch/kernel-launch/jupyter"
)

// patience is for a machine on which much else runs.
const patience = 3 * time.Minute

// started is a kernel that a Jupyter client has started.
type started struct {
	t      *testing.T
	w      *world
	pid    int
	client *jupyter.Client
}

func start(t *testing.T, flags ...string) *started {
	t.Helper()
	w := theWorld()
	require.NoError(t, w.err)
	c := &jupyter.Connection{Transport: "tcp", IP: "127.0.0.1", Key: jupyter.NewKey(), SignatureScheme: "hmac-sha256"}
	for _, p := range []*int{&c.Shell, &c.IOPub, &c.Stdin, &c.Control, &c.HB} {
		*p = witness.FreePort(t)
	}
	data, err := c.JSON()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "kernel.json")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	cmd := w.command(append([]string{"--env", "default", "-f", file}, flags...)...)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() })

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client, err := jupyter.Dial(ctx, c)
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	_, err = client.KernelInfo(ctx)
	require.NoError(t, err)
	return &started{t, w, cmd.Process.Pid, client}
}

func (s *started) does(code string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	reply, err := s.client.Execute(ctx, code, jupyter.ExecuteOptions{})
	require.NoError(s.t, err)
	require.Nil(s.t, reply.Exception)
}

// asks runs the command with --json and returns its object and status.
func (s *started) asks(args ...string) (map[string]any, int) {
	s.t.Helper()
	cmd := s.w.command(append(args, "--json")...)
	out, _ := cmd.Output()
	var object map[string]any
	require.NoError(s.t, json.Unmarshal(out, &object), "%v: %s", args, out)
	return object, cmd.ProcessState.ExitCode()
}

// id is the one that `kernel list` shows.
func (s *started) id() (id string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		list, _ := s.asks("kernel", "list")
		for _, k := range list["items"].([]any) {
			if k := k.(map[string]any); k["pid"] == float64(s.pid) {
				id = k["id"].(string)
			}
		}
		return id != ""
	}, 30*time.Second, 50*time.Millisecond)
	return id
}

func getPage(port int) string {
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
	if err != nil {
		return "no answer"
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return string(b)
}

const application = `import http.server, threading
class H(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"app")
threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", %d), H).serve_forever, daemon=True).start()
`

func TestPortsOfARunningKernel(t *testing.T) {
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "service") }))
	defer host.Close()
	service := host.Listener.Addr().(*net.TCPAddr).Port
	inside, outside := witness.FreePort(t), witness.FreePort(t)
	k := start(t)
	id := k.id()
	k.does(fmt.Sprintf(application, inside))
	spec := fmt.Sprintf("%d:%d", outside, inside)

	require.Equal(t, "no answer", getPage(outside))
	reply, status := k.asks("kernel", "publish", id, spec)
	assert.Zero(t, status, reply)
	assert.Equal(t, []any{"publish", "running", id}, []any{reply["status"], reply["state"], reply["id"]})
	assert.Equal(t, "app", getPage(outside))

	far := fmt.Sprintf("5432:localhost:%d", service)
	reply, status = k.asks("kernel", "forward", id, far)
	assert.Zero(t, status, reply)
	k.does("import urllib.request, http.client\nc = http.client.HTTPConnection('127.0.0.1', 5432); c.request('GET', '/'); assert c.getresponse().read() == b'service'")

	shown, _ := k.asks("kernel", "show", id)
	require.Len(t, shown["forward"], 1)
	require.Len(t, shown["publish"], 1)
	forward, publish := shown["forward"].([]any)[0].(map[string]any), shown["publish"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{5432.0, "localhost", float64(service)}, []any{forward["port"], forward["host"], forward["host_port"]})
	assert.Equal(t, []any{float64(inside), "127.0.0.1", float64(outside)}, []any{publish["port"], publish["host"], publish["host_port"]})
	assert.NotEmpty(t, publish["since"])
	assert.Contains(t, forward, "connections")
	text, err := k.w.command("kernel", "show", id).Output()
	require.NoError(t, err)
	assert.Contains(t, string(text), fmt.Sprintf("forward: port 5432 inside is localhost:%d as this machine reaches it", service))
	assert.Contains(t, string(text), fmt.Sprintf("publish: port %d inside is 127.0.0.1:%d of this machine", inside, outside))

	text, err = k.w.command("status").Output()
	require.NoError(t, err)
	assert.Contains(t, string(text), fmt.Sprintf("kernel %s has open: forward 5432:localhost:%d, publish %s\n", id, service, spec))

	for _, c := range []struct {
		code   string
		status int
		args   []string
	}{
		{"usage", statusUsage, []string{"kernel", "forward", id, "db:5432"}},
		{"usage", statusUsage, []string{"kernel", "publish", id, "0.0.0.0:80"}},
		{"port-taken", statusFailed, []string{"kernel", "publish", id, fmt.Sprint(service)}},
		{"port-taken", statusFailed, []string{"kernel", "forward", id, "3128"}},
		{"port", statusRefused, []string{"kernel", "forward", id, "80"}},
		{"no-port", statusNoSuch, []string{"kernel", "forward", id, "5433", "--off"}},
		{"no-kernel", statusNoSuch, []string{"kernel", "forward", "nosuch", "5432"}},
	} {
		reply, status := k.asks(c.args...)
		assert.Equal(t, c.status, status, c.args)
		fault, _ := reply["error"].(map[string]any)
		assert.Equal(t, c.code, fault["code"], "%v: %v", c.args, reply)
		assert.NotEmpty(t, fault["remedy"], c.args)
	}

	reply, status = k.asks("kernel", "publish", id, fmt.Sprint(outside), "--off")
	assert.Zero(t, status, reply)
	assert.Equal(t, "no answer", getPage(outside))
	reply, status = k.asks("kernel", "forward", id, "5432", "--off")
	assert.Zero(t, status, reply)
	k.does("try: http.client.HTTPConnection('127.0.0.1', 5432).connect(); raise SystemError\nexcept ConnectionRefusedError: pass")
	shown, _ = k.asks("kernel", "show", id)
	assert.Equal(t, []any{[]any{}, []any{}}, []any{shown["forward"], shown["publish"]})
}
