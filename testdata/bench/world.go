package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/kernel-launch/kernel-launch/jupyter"
)

// world is a home of its own below /var/tmp, with one managed environment in it: /tmp would be hidden by the sandbox's own.
type world struct {
	options
	root    string
	folder  string   // what a notebook's would be
	environ []string // of every kernel, confined or plain
	command []string // of the plain kernel; the connection file's path comes last
	env     string   // what `env show` says of the environment
	serial  int
}

const environment = "default"

func newWorld(ctx context.Context, o options) (w *world, err error) {
	if o.launcher, err = filepath.Abs(o.launcher); err != nil {
		return nil, err
	}
	if strings.ContainsRune(o.python, filepath.Separator) { // else it is looked up in PATH
		if o.python, err = filepath.Abs(o.python); err != nil {
			return nil, err
		}
	}
	if o.peers, err = filepath.Abs(o.peers); err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("/var/tmp", "kernel-launch-bench-")
	if err != nil {
		return nil, err
	}
	w = &world{options: o, root: root, folder: filepath.Join(root, "notebooks"), environ: surroundings(root)}
	if err := w.furnish(ctx); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) close() { os.RemoveAll(w.root) }

// surroundings are the caller's variables with another home and without what would move kernel-launch's folders.
func surroundings(home string) []string {
	out := []string{"HOME=" + home, "JPY_PARENT_PID=" + fmt.Sprint(os.Getpid())}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "HOME", name == "JPY_PARENT_PID", strings.HasPrefix(name, "XDG_"), strings.HasPrefix(name, "KERNEL_LAUNCH_"), strings.HasPrefix(name, "JUPYTER_"):
		default:
			out = append(out, kv)
		}
	}
	return out
}

func (w *world) furnish(ctx context.Context) error {
	if err := os.Mkdir(w.folder, 0o755); err != nil {
		return err
	}
	progress("making an environment in %s", w.root)
	if _, err := w.ask(ctx, "env", "create", environment); err != nil {
		return err
	}
	out, err := w.ask(ctx, "env", "show", environment)
	if err != nil {
		return err
	}
	w.env = out
	return w.learnCommand(ctx)
}

// learnCommand asks the launcher how it starts a kernel, so that the plain one is started by the same words.
func (w *world) learnCommand(ctx context.Context) error {
	file, _, err := w.connection()
	if err != nil {
		return err
	}
	out, err := w.ask(ctx, "--env", environment, "-f", file, "--dry-run", "--json")
	if err != nil {
		return err
	}
	var plan struct{ Command []string }
	if err := json.Unmarshal([]byte(out), &plan); err != nil || len(plan.Command) < 2 {
		return fmt.Errorf("the plan does not say its command: %w", err)
	}
	w.command = plan.Command[:len(plan.Command)-1]
	return nil
}

func (w *world) ask(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.launcher, args...)
	cmd.Env, cmd.Dir = w.environ, w.folder
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}

// connection writes a connection file with five free ports, as a client does.
func (w *world) connection() (string, *jupyter.Connection, error) {
	c := &jupyter.Connection{Transport: "tcp", IP: "127.0.0.1", Key: jupyter.NewKey(), SignatureScheme: "hmac-sha256"}
	for _, port := range []*int{&c.Shell, &c.IOPub, &c.Stdin, &c.Control, &c.HB} {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		defer l.Close()
		*port = l.Addr().(*net.TCPAddr).Port
	}
	b, err := c.JSON()
	if err != nil {
		return "", nil, err
	}
	w.serial++
	path := filepath.Join(w.root, fmt.Sprintf("connection-%d.json", w.serial))
	return path, c, os.WriteFile(path, b, 0o600)
}

// version finds a distribution in what `env show` said.
func (w *world) version(name string) string {
	for line := range strings.Lines(w.env) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name {
			return f[1]
		}
	}
	return "unknown"
}

func (w *world) machine() map[string]string {
	var u syscall.Utsname
	syscall.Uname(&u)
	first, _, _ := strings.Cut(w.env, "\n")
	return map[string]string{
		"processors":            fmt.Sprint(runtime.NumCPU()),
		"linux":                 text(u.Release[:]),
		"go":                    runtime.Version(),
		"environment":           strings.ReplaceAll(first, w.root, "~"),
		"ipykernel":             w.version("ipykernel"),
		"ipython":               w.version("ipython"),
		"pyzmq":                 w.version("pyzmq"),
		"load at the beginning": load(),
		"bubblewrap":            output("bwrap", "--version"),
		"jupyter_client":        output(w.python, "-c", "import jupyter_client; print(jupyter_client.__version__)"),
	}
}

func output(name string, args ...string) string {
	b, err := exec.Command(name, args...).Output()
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}

func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}

func text(chars []int8) string {
	var b []byte
	for _, c := range chars {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	return string(b)
}
