package launcher

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// TestMain lets this test program be the inside of the sandboxes that it starts, and the other processes that tests need.
func TestMain(m *testing.M) {
	RunInner(context.Background())
	if part := os.Getenv("KERNEL_LAUNCH_TEST"); part != "" {
		fmt.Fprintln(os.Stderr, play(part))
		os.Exit(1)
	}
	os.Exit(inWorld(m.Run))
}

// inWorld gives the tests a user of their own, whose home is not below /tmp: a sandbox covers that.
func inWorld(run func() int) int {
	base, err := os.MkdirTemp("/var/tmp", "kernel-launch-launcher-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(base)
	keepPipSettings()
	for key, name := range map[string]string{"HOME": "home", "XDG_RUNTIME_DIR": "run"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o700); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		os.Setenv(key, filepath.Join(base, name))
	}
	for _, key := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		os.Unsetenv(key)
	}
	return run()
}

// keepPipSettings lets the package index of the user who runs the tests count in the other home as well.
func keepPipSettings() {
	path := filepath.Join(os.Getenv("HOME"), ".config", "pip", "pip.conf")
	if _, err := os.Stat(path); err == nil && os.Getenv("PIP_CONFIG_FILE") == "" {
		os.Setenv("PIP_CONFIG_FILE", path)
	}
}

// play is one of the other processes. It returns only with an error.
func play(part string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	switch part {
	case "register":
		return registerAndWait(ctx)
	case "launch":
		return launchAndWait(ctx)
	case "hold":
		return holdAndWait(ctx)
	case "parent":
		return startLauncherAndWait(ctx)
	}
	return fmt.Errorf("unknown part %q", part)
}

// registerAndWait is a launcher with a kernel, until it is killed.
func registerAndWait(ctx context.Context) error {
	d, err := dirs.For(runtime.GOOS, os.Getenv)
	if err != nil {
		return err
	}
	p := &Plan{Environment: &envs.Environment{Name: "default"}, Sandbox: &sandbox.Plan{}, host: host{dirs: d}}
	k := &Kernel{plan: p, state: Running, context: ctx}
	if err := k.claim(); err != nil {
		return err
	}
	if _, err = register(k); err != nil {
		return err
	}
	fmt.Println("registered")
	<-ctx.Done()
	return ctx.Err()
}

// daemon leaves a process behind that has left its session and its parents.
const daemon = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(300)\n    os._exit(0)\n"

// launchAndWait is a launcher whose kernel has a daemon. It says its ports when both run, and ends with its parent.
func launchAndWait(ctx context.Context) error {
	k, err := Launch(ctx, Spec{Environment: "default", Folder: os.Getenv("KERNEL_LAUNCH_TEST_FOLDER")})
	if err != nil {
		return err
	}
	client, err := jupyter.Dial(ctx, k.Connection())
	if err != nil {
		return err
	}
	if _, err := client.Execute(ctx, daemon, jupyter.ExecuteOptions{}); err != nil {
		return err
	}
	go k.WatchParent(ctx, os.Getppid())
	for _, p := range k.Connection().Ports() {
		fmt.Print(p, " ")
	}
	fmt.Println()
	return fmt.Errorf("the kernel ended: %v", k.Wait())
}

// startLauncherAndWait is the server that started a launcher.
func startLauncherAndWait(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "KERNEL_LAUNCH_TEST=launch")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println(cmd.Process.Pid)
	return cmd.Wait()
}
