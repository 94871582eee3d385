package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	ends  []func()
}

func (s *subject) stop() {
	for i := len(s.ends) - 1; i >= 0; i-- {
		s.ends[i]()
	}
}

// Places of the proxies in the lab.
const (
	aloneAt      = "127.0.0.1:3101"
	tinyproxyAt  = "127.0.0.1:3102"
	squidAt      = "127.0.0.1:3103"
	smokescreenA = "127.0.0.1:3104"
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
		if _, err = s.ask(loadOrder{Do: "once"}); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s does not answer: %w", s.name, err)
}

func (s *subject) ask(o loadOrder) (loadReport, error) {
	o.Via, o.Fresh = s.via, s.fresh
	return s.load.ask(o)
}

// startAlone is egress.Proxy in a process of its own, as a program would use the library. On a path it cannot splice.
func (l *lab) startAlone(ctx context.Context) (*subject, error) {
	return l.startProxy(ctx, "kernel-launch", aloneAt, nil, "/proc/self/exe", roleAlone, aloneAt, filepath.Join(l.Root, "audit.jsonl"))
}

func (l *lab) startTinyproxy(ctx context.Context) (*subject, error) {
	filter, err := l.write("tinyproxy.filter", strings.ReplaceAll(originDomain, ".", `\.`)+"$\n")
	if err != nil {
		return nil, err
	}
	conf, err := l.write("tinyproxy.conf", "Port 3102\nListen 127.0.0.1\nMaxClients 4000\nTimeout 600\nConnectPort "+originPort+
		"\nFilter \""+filter+"\"\nFilterDefaultDeny Yes\nFilterType ere\nLogLevel Connect\nLogFile \""+filepath.Join(l.Root, "tinyproxy.log")+"\"\n")
	if err != nil {
		return nil, err
	}
	name := "tinyproxy " + strings.TrimPrefix(output("tinyproxy", "-v"), "tinyproxy ")
	return l.startProxy(ctx, name, tinyproxyAt, nil, "tinyproxy", "-d", "-c", conf)
}

func (l *lab) startSquid(ctx context.Context) (*subject, error) {
	logs := filepath.Join(l.Root, "squid")
	if err := os.Mkdir(logs, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(logs, 0o777); err != nil {
		return nil, err
	}
	conf, err := l.write("squid.conf", "http_port "+squidAt+"\npid_filename none\ncache deny all\ncache_mem 0\ncache_log "+logs+"/cache.log\naccess_log stdio:"+logs+
		"/access.log\ndns_nameservers 127.0.0.1\nshutdown_lifetime 0 seconds\npinger_enable off\nacl bench dstdomain "+originDomain+"\nacl tls port "+originPort+
		"\nhttp_access allow CONNECT bench tls\nhttp_access deny all\n")
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(output(squidProgram(), "-v"), "\n")
	name := "squid " + strings.TrimPrefix(first, "Squid Cache: Version ")
	return l.startProxy(ctx, name, squidAt, nil, squidProgram(), "-N", "-f", conf)
}

func squidProgram() string {
	if path, err := exec.LookPath("squid"); err == nil {
		return path
	}
	return "/usr/sbin/squid" // not in every user's PATH
}

func (l *lab) startSmokescreen(ctx context.Context) (*subject, error) {
	acl, err := l.write("smokescreen.yaml", "version: v1\nservices: []\ndefault:\n  project: bench\n  action: enforce\n  allowed_domains:\n    - \"*"+originDomain+"\"\n")
	if err != nil {
		return nil, err
	}
	conf, err := l.write("smokescreen.conf", "allow_missing_role: true\n") // a role comes with a client's certificate
	if err != nil {
		return nil, err
	}
	program := filepath.Join(l.Tools, "smokescreen")
	name := "smokescreen " + strings.TrimPrefix(output(program, "--version"), "smokescreen version ")
	return l.startProxy(ctx, name, smokescreenA, nil, program, "--config-file", conf, "--listen-ip", "127.0.0.1", "--listen-port", "3104", "--egress-acl-file", acl, "--resolver-address", "127.0.0.1:53")
}

func (l *lab) write(name, text string) (string, error) {
	path := filepath.Join(l.Root, name)
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// startProxy starts a program; what it writes goes to a file, as a log would.
func (l *lab) startProxy(ctx context.Context, name, via string, environ []string, argv ...string) (*subject, error) {
	out, err := os.OpenFile(filepath.Join(l.Root, filepath.Base(argv[0])+".out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, environ
	s := &subject{name: name, via: via}
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

// loader is a client's process.
type loader struct {
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer
}

func (s *subject) startLoad(cmd *exec.Cmd) (*loader, error) {
	s.load = &loader{}
	cmd.Stderr = &s.load.said
	var err error
	if s.load.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.load.out = bufio.NewReader(r)
	return s.load, s.start(cmd)
}

func (l *loader) ask(o loadOrder) (loadReport, error) {
	var r loadReport
	if err := json.NewEncoder(l.in).Encode(o); err != nil {
		return r, err
	}
	line, err := l.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("the client ended: %w: %s", err, l.said.String())
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, fmt.Errorf("%s: %s", o.Do, r.Error)
	}
	return r, nil
}
