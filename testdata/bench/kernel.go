package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/kernel-launch/kernel-launch/jupyter"
)

// kind is one way to start a kernel.
type kind struct {
	name string
	argv func(w *world, file string) []string
}

var (
	plainKernel = kind{"plain", func(w *world, file string) []string {
		return append(append([]string{}, w.command...), file)
	}}
	allowlistKernel = kind{"allowlist", func(w *world, file string) []string {
		return []string{w.launcher, "--env", environment, "-f", file}
	}}
	noneKernel = kind{"none", func(w *world, file string) []string {
		return []string{w.launcher, "--env", environment, "--network", "none", "-f", file}
	}}
)

// kernel is one that runs.
type kernel struct {
	cmd     *exec.Cmd
	conn    *jupyter.Connection
	file    string
	began   time.Time
	said    bytes.Buffer
	waiting chan struct{}
}

// readyTime is how long a kernel may take to answer, on a machine that others use.
const readyTime = 60 * time.Second

func (w *world) spawn(k kind) (*kernel, error) {
	file, conn, err := w.connection()
	if err != nil {
		return nil, err
	}
	argv := k.argv(w, file)
	r := &kernel{cmd: exec.Command(argv[0], argv[1:]...), conn: conn, file: file, waiting: make(chan struct{})}
	r.cmd.Env, r.cmd.Dir, r.cmd.Stderr = w.environ, w.folder, &r.said
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.began = time.Now()
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { r.cmd.Wait(); close(r.waiting) }()
	return r, nil
}

// while ends ctx when the kernel does.
func (r *kernel) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	caused, fail := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-r.waiting:
			fail(fmt.Errorf("the kernel ended; it wrote: %s", r.said.String()))
		case <-caused.Done():
		}
	}()
	return caused, func() { fail(nil); cancel() }
}

// stop returns when the kernel and all that belongs to it are gone: a launcher ends last.
func (r *kernel) stop() {
	syscall.Kill(r.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-r.waiting:
	case <-time.After(10 * time.Second):
		syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.waiting
	}
	os.Remove(r.file)
}
