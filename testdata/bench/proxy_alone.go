package main

import (
	"context"
	"net"
	"os"

	"github.com/kernel-launch/kernel-launch/egress"
)

// runAlone serves the proxy as a launcher would: rules, the system's name servers, every check, an audit log. Only its bound on connections is another.
func runAlone(ctx context.Context) error {
	at, audit := os.Args[2], &egress.Audit{Path: os.Args[3], Kernel: "bench", Environment: environment}
	rules := &egress.Rules{}
	for _, port := range []string{originPort, stuckPort} {
		r, err := egress.ParseRule(originDomain + ":" + port)
		if err != nil {
			return err
		}
		rules.Allow = append(rules.Allow, r)
	}
	l, err := net.Listen(networkOf(at), at)
	if err != nil {
		return err
	}
	p := &egress.Proxy{
		Rules: func() (*egress.Rules, error) { return rules, nil }, Event: audit.Record,
		Bounds: egress.Bounds{Connections: 4096},
	}
	context.AfterFunc(ctx, func() { p.Close() })
	if err := p.Serve(l); err != nil {
		return err
	}
	return audit.Close()
}
