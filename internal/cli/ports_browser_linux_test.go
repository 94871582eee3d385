package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
)

// browse opens a page in a browser of its own, on the host and without walls. What comes back closes it.
func browse(t *testing.T, url string) (*witness.Output, func()) {
	t.Helper()
	var path string
	for _, name := range []string{"google-chrome", "chromium-browser", "chromium"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
		}
	}
	require.NotEmpty(t, path, "run make system-test")
	home, err := os.MkdirTemp(base, "browser-") // not the test's own: processes of the browser still write while they end
	require.NoError(t, err)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--no-proxy-server", "--user-data-dir="+home+"/data", url)
	cmd.Env, cmd.Dir = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}, home
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said witness.Output
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	end := func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	t.Cleanup(func() { end(); cmd.Wait() })
	return &said, end
}

// pageSays is what the page has told its application.
func pageSays(t *testing.T, port int, browser *witness.Output) (result map[string]any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/result", port), nil)
	require.NoError(t, err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Do(q)
	require.NoError(t, err, "%s", browser)
	defer r.Body.Close()
	require.NoError(t, json.NewDecoder(r.Body).Decode(&result))
	return result
}

func TestAnApplicationOfAKernelInABrowser(t *testing.T) {
	t.Parallel()
	folder, err := filepath.Abs("../../testdata/ports")
	require.NoError(t, err)
	inside, outside := witness.FreePort(t), witness.FreePort(t)
	spec := fmt.Sprintf("%d:%d", outside, inside)
	k := start(t, "--read", folder+"/site", "--publish", spec)
	text, err := os.ReadFile(folder + "/application.py")
	require.NoError(t, err)
	k.does(string(text))
	k.does(fmt.Sprintf("serve(%d, %q)", inside, folder+"/site"))

	browser, closeBrowser := browse(t, fmt.Sprintf("http://127.0.0.1:%d/", outside))
	want := map[string]any{"origin": fmt.Sprintf("http://127.0.0.1:%d", outside), "data": "hot", "small": "µ", "large": true, "again": "still open"}
	assert.Equal(t, want, pageSays(t, outside, browser))
	shown, _ := k.asks("kernel", "show", k.id())
	port := shown["publish"].([]any)[0].(map[string]any)
	assert.GreaterOrEqual(t, port["connections"], 1.0, "the page holds its WebSocket")

	closeBrowser()
	require.Eventually(t, func() bool { return logged(t, k, "publish "+spec)["allow"] >= 2 }, 30*time.Second, 100*time.Millisecond, "the WebSocket, and a request")
}
