package inner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// start carries out the order. It reports by message; the wait for exec is a goroutine's, so that signals and dials go on.
func (in *inside) start(f *os.File) {
	if f == nil {
		in.fail("order", exitFailed, errors.New("the order came without its file"))
	}
	defer f.Close()
	o, err := link.ReadOrder(f)
	if err != nil {
		in.fail("order", exitFailed, fmt.Errorf("the order cannot be read: %w", err))
	}
	if len(o.Argv) == 0 {
		in.fail("order", exitFailed, errors.New("the order names no program"))
	}
	for _, file := range o.Files {
		if err := write(file); err != nil {
			in.fail("files", exitFailed, err)
		}
	}
	if err := os.Chdir(o.Dir); err != nil {
		in.fail("folder", exitFailed, fmt.Errorf("the working folder cannot be entered: %w", err))
	}
	status, err := in.fork(o)
	if err != nil {
		in.fail("exec", exitFailed, err)
	}
	go in.await(status)
}

func write(f link.File) error {
	w, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, os.FileMode(f.Mode))
	if err != nil {
		return err
	}
	if _, err := w.Write(f.Data); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}

// fork starts the stub, which becomes the program. The pipe that it returns ends when it has, or says why it could not.
func (in *inside) fork(o link.Order) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	options, err := json.Marshal(stubOptions{OOM: o.OOM})
	if err != nil {
		return nil, err
	}
	argv := append([]string{in.self, StubWord, string(options)}, o.Argv...)
	in.mu.Lock() // reap must not see the child before pid is known
	defer in.mu.Unlock()
	in.pid, err = syscall.ForkExec(in.self, argv, &syscall.ProcAttr{
		Dir: o.Dir, Env: o.Env, Files: []uintptr{0, 1, 2, w.Fd()},
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("start the program's stub: %w", err)
	}
	return r, nil
}

func (in *inside) await(status *os.File) {
	b, err := io.ReadAll(io.LimitReader(status, 4096))
	status.Close()
	if err == nil && len(b) == 0 {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.running = true
		in.conn.Send(link.Message{Kind: link.Started})
		in.exited() // it may have ended already
		return
	}
	code, why, _ := bytes.Cut(b, []byte(" "))
	n := exitFailed
	fmt.Sscan(string(code), &n)
	in.fail("exec", n, errors.New(strings.TrimSpace(string(why))))
}
