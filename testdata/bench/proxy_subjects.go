package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// subject is one way to the origin: a client and what it goes through.
type subject struct {
	name string
	via  string // as loadOrder has it
	pid  int    // of the proxy; 0 for direct connections

	fresh bool // as loadOrder has it
	load  *loader
	said  string // the file that its output goes to
	ends  []func()
}

func (s *subject) stop() {
	for i := len(s.ends) - 1; i >= 0; i-- {
		s.ends[i]()
	}
}

// Places of the proxies in the lab.
const (
	aloneAt       = "127.0.0.1:3101"
	tinyproxyAt   = "127.0.0.1:3102"
	squidAt       = "127.0.0.1:3103"
	smokescreenAt = "127.0.0.1:3104"
)

// startSubjects starts the client, the proxies, and the client in a sandbox. All stay up for the whole run, and idle while another one is measured.
func (l *lab) startSubjects(ctx context.Context) error {
	direct := &subject{name: "direct"}
	l.subjects = append(l.subjects, direct)
	client, err := direct.startLoad(exec.CommandContext(ctx, "/proc/self/exe", roleLoad))
	if err != nil {
		return err
	}
	for _, start := range []func(context.Context) (*subject, error){l.startAlone, l.startKernel, l.startTinyproxy, l.startSquid, l.startSmokescreen} {
		s, err := start(ctx)
		if s != nil {
			l.subjects = append(l.subjects, s)
		}
		if err != nil {
			return err
		}
		if s.load == nil {
			s.load = client
		}
		if err := s.ready(); err != nil {
			return err
		}
	}
	l.inside = l.subjects[2]
	return nil
}

// asking is the same way, with another name for each connection.
func (s *subject) asking() *subject {
	other := *s
	other.name, other.fresh, other.ends = s.name+", another name each time", true, nil
	return &other
}

// ready waits until a tunnel through the proxy carries bytes.
func (s *subject) ready() error {
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err = s.ask(loadOrder{Do: "row", Count: 1}); err == nil {
			return nil
		}
	}
	said, _ := os.ReadFile(s.said)
	return fmt.Errorf("%s does not answer: %w: %s", s.name, err, said[max(len(said)-500, 0):])
}

func (s *subject) ask(o loadOrder) (loadReport, error) {
	o.Via, o.Fresh = s.via, s.fresh
	return s.load.ask(o)
}

// startAlone is egress.Proxy in a process of its own, as a program would use the library. On a path it cannot splice.
func (l *lab) startAlone(ctx context.Context) (*subject, error) {
	return l.startProxy(ctx, "kernel-launch", aloneAt, "/proc/self/exe", roleAlone, aloneAt, filepath.Join(l.Root, "audit.jsonl"))
}

// startProxy starts a program; what it writes goes to a file, as a log would.
func (l *lab) startProxy(ctx context.Context, name, via string, argv ...string) (*subject, error) {
	out, err := os.OpenFile(filepath.Join(l.Root, filepath.Base(argv[0])+".out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	s := &subject{name: name, via: via, said: out.Name()}
	if err := s.start(cmd); err != nil {
		return nil, err
	}
	s.pid = cmd.Process.Pid
	return s, nil
}

// start has a program end with the subject.
func (s *subject) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	s.ends = append(s.ends, func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
	})
	return nil
}

// startKernel runs the client in a sandbox, behind the walls and the proxy of a kernel.
func (l *lab) startKernel(ctx context.Context) (*subject, error) {
	if err := l.writeProfile(); err != nil {
		return nil, err
	}
	program := filepath.Join(l.Folder, "bench-client")
	if err := copyFile("/proc/self/exe", program); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, l.Launcher, "run", "--env", environment, "--profile", "bench", "--", "/bin/sh", "-c", `echo "$HTTPS_PROXY"; exec ./bench-client `+roleLoad)
	cmd.Env, cmd.Dir = l.Environ, l.Folder
	s := &subject{name: "kernel-launch, from a sandbox"}
	if _, err := s.startLoad(cmd); err != nil {
		return nil, err
	}
	s.pid = cmd.Process.Pid
	said, err := s.load.out.ReadString('\n')
	if err != nil {
		return s, fmt.Errorf("the client in the sandbox: %w: %s", err, s.load.said.String())
	}
	s.via = strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(said), "http://"), "/")
	if _, _, err := net.SplitHostPort(s.via); err != nil {
		return s, fmt.Errorf("the client in the sandbox has the proxy %q: %w", said, err)
	}
	return s, nil
}

// writeProfile allows the origin, and as many connections as are held.
func (l *lab) writeProfile() error {
	dir := filepath.Join(filepath.Dir(l.Folder), ".config", "kernel-launch")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf("version: 1\nprofiles:\n  bench: {egress: {allow: [\"%s:%s\", \"%s:%s\"], bounds: {connections: 4096}}}\n", originDomain, originPort, originDomain, stuckPort)
	return os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600)
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}
