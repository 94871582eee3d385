package cli

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/launcher"
)

// demoSite is what the demo plants outside: a file with a secret, and a server on the host's loopback.
type demoSite struct {
	folder, secret string
	server         *http.Server
	address        string // of the server, host and port
}

func plant() (*demoSite, error) {
	base, err := os.MkdirTemp("", "kernel-launch-demo-")
	if err != nil {
		return nil, err
	}
	s := &demoSite{folder: filepath.Join(base, "notebook"), secret: filepath.Join(base, "secret.txt")}
	if err := errors.Join(os.Mkdir(s.folder, 0o700), os.WriteFile(s.secret, []byte("a token"), 0o600)); err != nil {
		s.clear()
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.clear()
		return nil, err
	}
	s.address = l.Addr().String()
	s.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, demoAnswer) }),
	}
	go s.server.Serve(l)
	return s, nil
}

func (s *demoSite) clear() {
	if s.server != nil {
		s.server.Close()
	}
	os.RemoveAll(filepath.Dir(s.folder))
}

// spec starts from the built-in policy, so that the demo shows the same on every machine, and names one host that is answered by the planted server.
func (s *demoSite) spec() (launcher.Spec, error) {
	cfg := launcher.DefaultConfig()
	rule, err := egress.ParseRule(demoAllowed)
	if err != nil {
		return launcher.Spec{}, err
	}
	pin, err := egress.ParsePin(demoAllowed, s.address)
	if err != nil {
		return launcher.Spec{}, err
	}
	cfg.Egress.Allow = append(cfg.Egress.Allow, rule)
	cfg.Egress.Pins = append(cfg.Egress.Pins, pin)
	return launcher.Spec{Environment: demoEnvironment, Folder: s.folder, Config: cfg}, nil
}
