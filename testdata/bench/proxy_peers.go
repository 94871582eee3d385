package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Each peer has an allow list and a log, and no cache.

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
	return l.startProxy(ctx, name, tinyproxyAt, "tinyproxy", "-d", "-c", conf)
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
	return l.startProxy(ctx, name, squidAt, squidProgram(), "-N", "-f", conf)
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
	return l.startProxy(ctx, name, smokescreenAt, program, "--config-file", conf, "--listen-ip", "127.0.0.1", "--listen-port", "3104", "--egress-acl-file", acl, "--resolver-address", "127.0.0.1:53")
}

func (l *lab) write(name, text string) (string, error) {
	path := filepath.Join(l.Root, name)
	return path, os.WriteFile(path, []byte(text), 0o644)
}
