package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"time"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// indexPort is where tools find the package index inside.
const indexPort = 3141

// toolbox runs installers in the install sandbox: the system and what the tool names, an empty home, and no network but one listener of ours.
type toolbox struct {
	dirs   dirs.Dirs
	helper string
}

// run implements envs.Exec.
func (t toolbox) run(ctx context.Context, tool envs.Tool) error {
	backend := sandbox.Default()
	plan, err := backend.Plan(t.policy(tool))
	if err != nil {
		return fmt.Errorf("the install sandbox: %w", err)
	}
	keep := newTail(4 << 10)
	lifetime, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	l, err := bear(ctx, birth{
		backend: backend, plan: plan, lifetime: lifetime,
		stdout: teeTo(tool.Stdout, keep), stderr: teeTo(tool.Stderr, keep),
	})
	if err != nil {
		return fmt.Errorf("the install sandbox: %w", err)
	}
	defer l.end()
	if tool.Index != nil {
		stop, err := serveIndex(ctx, l.link, tool.Index)
		if err != nil {
			return err
		}
		defer stop()
	}
	dir := tool.Dir
	if dir == "" {
		dir = plan.Dir
	}
	order := orderFor(plan, l.process)
	order.Argv, order.Env, order.Dir = tool.Argv, tool.Env, dir
	if err := l.link.Start(ctx, order); err != nil {
		return failedTool(tool, err)
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if l.exit.Code != 0 {
		return &envs.ToolError{Argv: tool.Argv, Status: l.exit.Code, Tail: plain.Text(keep.String(), 16<<10)} // room for escapes: the end says why
	}
	return nil
}

func failedTool(tool envs.Tool, err error) error {
	var failed *link.FailedError
	if errors.As(err, &failed) {
		return &envs.ToolError{Argv: tool.Argv, Status: failed.Status, Tail: failed.Text}
	}
	return fmt.Errorf("the install sandbox: %w", err)
}

func teeTo(w io.Writer, keep *tail) io.Writer {
	if w == nil {
		return keep
	}
	return io.MultiWriter(keep, w)
}

func (t toolbox) policy(tool envs.Tool) sandbox.Policy {
	p := sandbox.Policy{
		Network:  sandbox.NetworkNone,
		RealHome: t.dirs.Home,
		Helper:   t.helper,
		Limits:   sandbox.Limits{Tmp: 4 << 30, Shm: 1 << 30},
		Links:    "allow", // what an installer makes is judged before any of it is used
	}
	for _, b := range tool.ReadOnly {
		if b.Source == b.Target { // an interpreter, or a part of the system, which is there already
			p.Prefixes = append(p.Prefixes, b.Source)
		} else {
			p.Trees = append(p.Trees, sandbox.Tree(b))
		}
	}
	for _, b := range tool.Writable {
		p.Writable = append(p.Writable, sandbox.Tree(b))
	}
	return p
}

// serveIndex answers on the tool's own loopback. What it does stop at once when the tool has ended.
func serveIndex(ctx context.Context, l link.Link, h http.Handler) (stop func(), err error) {
	listener, err := l.Listen(ctx, indexPort)
	if err != nil {
		return nil, fmt.Errorf("the index gateway: %w", err)
	}
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Serve(listener)
	}()
	return func() { s.Close(); <-ended }, nil
}

// ahead is the platform's backend, which looks at the machine meanwhile where it can: what it sees is no matter of the policy.
func ahead() sandbox.Backend {
	b := sandbox.Default()
	if looks, can := any(b).(interface{ Ahead() }); can {
		looks.Ahead()
	}
	return b
}

// backendFor is the backend that the configuration names, which b is or is not. "off" is a choice that has to be made, and none that this version carries out.
func backendFor(b sandbox.Backend, cfg *Config) (sandbox.Backend, error) {
	switch name := string(cfg.Sandbox.Backend); name {
	case "", "auto", b.Name():
		return b, nil
	case "off":
		return nil, &sandbox.UnsupportedError{Key: "sandbox.backend", Value: name, Reason: "is not in this version: every kernel is confined"}
	default:
		return nil, &sandbox.UnsupportedError{Key: "sandbox.backend", Value: name, Reason: fmt.Sprintf("is not a backend on %s; there is %s", runtime.GOOS, b.Name())}
	}
}

// choosePorts fills ports that are 0, where the kernel itself binds them.
func choosePorts(ports ...*int) error {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	for _, p := range ports {
		if *p != 0 {
			continue
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		held = append(held, l)
		*p = l.Addr().(*net.TCPAddr).Port
	}
	return nil
}

// jupyterFolders are what a Jupyter server believes: its configuration, its kernelspecs, and its runtime folder with every kernel's key.
func jupyterFolders(getenv func(string) string, home string) []string {
	list := []string{
		filepath.Join(home, ".jupyter"), filepath.Join(home, ".local", "share", "jupyter"), filepath.Join(home, ".ipython"),
		filepath.Join(home, "Library", "Jupyter"),
	}
	for _, key := range []string{"JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"} {
		if v := getenv(key); filepath.IsAbs(v) {
			list = append(list, v)
		}
	}
	for _, v := range filepath.SplitList(getenv("JUPYTER_PATH")) {
		if filepath.IsAbs(v) {
			list = append(list, v)
		}
	}
	if r := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(r) {
		list = append(list, filepath.Join(r, "jupyter"))
	}
	return list
}
