package cli

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kernel-launch/kernel-launch/launcher"
)

// TestMain lets this test program be the command, and the inside of the sandboxes that it starts.
func TestMain(m *testing.M) {
	ctx := context.Background()
	launcher.RunInner(ctx)
	testscript.Main(inWorld{m}, map[string]func(){
		"kernel-launch": func() { os.Exit(Main(ctx, os.Args[1:])) },
	})
}

// base holds the homes of the tests' users. It is not below /tmp: a sandbox covers that.
var base string

type inWorld struct{ m *testing.M }

func (w inWorld) Run() int {
	var err error
	if base, err = os.MkdirTemp("/var/tmp", "kernel-launch-cli-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(base)
	return w.m.Run()
}

// world is a user with environments and kernelspecs, made once for all tests of a run.
type world struct {
	launcher, home, notebooks string
	env                       []string
	err                       error
}

var theWorld = sync.OnceValue(func() *world {
	w := &world{home: filepath.Join(base, "home"), notebooks: filepath.Join(base, "work", "notebooks")}
	w.err = w.make()
	return w
})

// passed are variables of the tests' own user that a package index may need, and the ones that no Jupyter of theirs may bring.
var passed = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "PIP_INDEX_URL", "PIP_CONFIG_FILE", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "TMPDIR",
}

func (w *world) make() error {
	for _, d := range []string{w.home, w.notebooks, filepath.Join(base, "run")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	var err error
	if w.launcher, err = exec.LookPath("kernel-launch"); err != nil {
		return err
	}
	w.env = []string{"HOME=" + w.home, "XDG_RUNTIME_DIR=" + filepath.Join(base, "run"), "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			w.env = append(w.env, name+"="+v)
		}
	}
	for _, args := range [][]string{
		{"env", "create", "default", "--python", "/usr/bin/python3"},
		{"kernelspec", "install", "--env", "default", "--name", "kl-default"},
		{"env", "create", "stats", "--language", "r"},
		{"kernelspec", "install", "--env", "stats", "--name", "kl-stats"},
	} {
		if out, err := w.command(args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", args, err, out)
		}
	}
	return w.copies()
}

func (w *world) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	cmd := exec.CommandContext(ctx, w.launcher, args...)
	cmd.Env, cmd.Dir = w.env, w.notebooks
	cmd.Cancel = func() error { defer cancel(); return cmd.Process.Kill() }
	return cmd
}

// copies spare the demo, and whoever changes an environment, a download of their own.
func (w *world) copies() error {
	envs := filepath.Join(w.home, ".local/share/kernel-launch/envs/python")
	for _, name := range []string{"demo", "changes", "canary", "clients"} {
		script := fmt.Sprintf(`cp -a default %[1]s && sed 's/"name": "default"/"name": "%[1]s"/' default/env.json > %[1]s/env.json`, name)
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Dir = envs
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	return nil
}

// theIndex is a package index on loopback with a few tiny wheels.
var theIndex = sync.OnceValues(func() (string, error) {
	index, err := newDemoIndex()
	if err != nil {
		return "", err
	}
	return httptest.NewServer(index).URL + "/simple", nil
})
