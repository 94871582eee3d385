package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const macTemp = "/private/var/folders/a/b/T/kl-1"

func rulesOf(t *testing.T, change func(*Policy)) model {
	t.Helper()
	p := Policy{
		Network: NetworkAllowlist, Folder: "/Users/ada/p/nb", Read: []string{"/Users/ada/data"}, Write: []string{"/Users/ada/out"}, Hide: []string{"/Users/ada/data/a/key", "/Users/ada/out/b/c/key"},
		Project: true, Islands: []string{"/Users/ada/out/x/y/kept"}, KeptHome: "/Users/ada/Library/kl/home", Prefixes: []string{"/opt/py"},
		Trees: []Tree{{"/Users/ada/Library/kl/env/gen-1", "/Users/ada/Library/kl/env/current"}},
	}
	if change != nil {
		change(&p)
	}
	f := mac("/Users/ada/p/nb", "/Users/ada/data", "/Users/ada/out", "/opt/py", "/Users/ada/Library/kl/home", "/Users/ada/Library/kl/env/gen-1")
	f.Project = "/Users/ada/p"
	start := map[string]string{ParameterTemp: macTemp, "PORT_SHELL": "localhost:50001"}
	if p.Network == NetworkHost {
		delete(start, "PORT_SHELL")
	}
	if p.Network == NetworkAllowlist {
		start[ParameterProxy] = "localhost:50100"
	}
	return newModel(t, compile(t, p, f).Seatbelt, start)
}

func TestFilesOfAProfile(t *testing.T) {
	m := rulesOf(t, nil)
	for path, want := range map[string]string{ // r: its content is read, w: it is written, u: it is moved or deleted
		"/Users/ada/p/nb/a.ipynb":                   "rwu",
		"/Users/ada/p/nb/.env":                      "rwu",
		"/Users/ada/p/nb/.gitignore":                "rwu",
		"/Users/ada/p/nb/sub/.git/config":           "rwu",
		"/Users/ada/p/nb/.git/config":               "r",
		"/Users/ada/p/nb/.GIT/config":               "r",
		"/Users/ada/p/nb/.git":                      "r",
		"/Users/ada/p/nb/venv/bin/python":           "r",
		"/Users/ada/p/nb":                           "rw", // it cannot be moved from under the rules
		"/Users/ada/p/data.csv":                     "r",
		"/Users/ada/p/.env":                         "",
		"/Users/ada/p/sub/.env.local":               "",
		"/Users/ada/p/.ENV":                         "",
		"/Users/ada/p/.envs/prod":                   "",
		"/Users/ada/p/my.env":                       "r",
		"/Users/ada/data/x":                         "r",
		"/Users/ada/data/a/key":                     "",
		"/Users/ada/data/a/key/below":               "",
		"/Users/ada/data/a/keys":                    "r",
		"/Users/ada/out/x.csv":                      "rwu",
		"/Users/ada/out/x/y/kept/f":                 "r",
		"/Users/ada/out/x/y":                        "rw",
		"/Users/ada/out/x":                          "rw",
		"/Users/ada/out":                            "rw",
		"/Users/ada/out/b":                          "rw",
		"/Users/ada/out/b/c/key":                    "",
		"/Users/ada/Library/kl/home/.cache/x":       "rwu",
		"/Users/ada/Library/kl/env/gen-1/lib/x.py":  "r",
		"/Users/ada/Library/kl/env/gen-2/lib/x.py":  "",
		"/Users/ada/Library/kl/env/current":         "r",
		"/opt/py/bin/python":                        "r",
		"/opt/other/x":                              "",
		macTemp + "/x":                              "rwu",
		macTemp:                                     "rw",
		"/private/var/folders/a/b/T/other":          "",
		"/private/tmp/x":                            "",
		"/Users/ada/.ssh/id_ed25519":                "",
		"/Users/ada":                                "",
		"/Users/bob/x":                              "",
		"/System/Library/x":                         "r",
		"/System/Volumes/Data/Users/bob/x":          "",
		"/usr/lib/libSystem.dylib":                  "r",
		"/Library/Keychains/System.keychain":        "",
		"/private/etc/master.passwd":                "",
		"/dev/null":                                 "rwu",
		"/dev/tty":                                  "",
		"/dev/disk0":                                "",
		"/Library/Application Support/x":            "",
		"/Library/Frameworks/R.framework/bin/R":     "r",
		"/Users/ada/p":                              "r",
		"/Users/ada/Library/Keychains/login.db":     "",
		"/Users/ada/datax":                          "",
		"/Users/ada/Library/LaunchAgents/evil.list": "",
	} {
		got := ""
		for _, o := range []struct{ letter, operation string }{{"r", "file-read-data"}, {"w", "file-write-data"}, {"u", "file-write-unlink"}} {
			if m.allows(action{operation: o.operation, path: path}) {
				got += o.letter
			}
		}
		assert.Equal(t, want, got, path)
	}
	for path, want := range map[string]bool{"/Users": true, "/Users/ada": true, "/Users/bob": false, "/private/tmp": false, "/Users/ada/.ssh": false} {
		assert.Equal(t, want, m.allows(action{operation: "file-read-metadata", path: path}), path)
	}
}

func TestLinksOfAProfile(t *testing.T) {
	strict, open := rulesOf(t, nil), rulesOf(t, func(p *Policy) { p.Links = "allow" })
	for _, path := range []string{"/Users/ada/p/nb/l", "/Users/ada/out/l", macTemp + "/l"} {
		for _, vnode := range []string{"SYMLINK", "FIFO", "REGULAR-FILE", "DIRECTORY"} {
			a := action{operation: "file-write-create", path: path, vnode: vnode}
			assert.Equal(t, vnode == "REGULAR-FILE" || vnode == "DIRECTORY", strict.allows(a), "%s at %s", vnode, path)
			assert.True(t, open.allows(a), "%s at %s", vnode, path)
		}
		link := action{operation: "file-link", path: path}
		assert.False(t, strict.allows(link))
		assert.True(t, open.allows(link))
	}
	for _, closed := range []string{"/Users/ada/data/x", "/Users/ada/out/b/c/key", "/Users/ada/p/nb/.git/config"} {
		assert.False(t, open.allows(action{operation: "file-link", path: closed}), closed)
	}
	assert.False(t, open.allows(action{operation: "file-write-create", path: "/Users/ada/p/nb/.git", vnode: "SYMLINK"}), "links leave the islands alone")
}

func TestNetworkOfAProfile(t *testing.T) {
	tcp := func(operation, address string) action { return action{operation: operation, address: address} }
	unix := func(path string) action { return action{operation: "network-outbound", path: path} }
	for _, c := range []struct {
		a                     action
		none, allowlist, host bool
	}{
		{tcp("network-outbound", "localhost:50100"), false, true, true},
		{tcp("network-outbound", "localhost:50101"), false, false, true},
		{tcp("network-outbound", "203.0.113.1:443"), false, false, true},
		{tcp("network-bind", "localhost:50001"), true, true, true},
		{tcp("network-inbound", "localhost:50001"), true, true, true},
		{tcp("network-bind", "localhost:50002"), false, false, true},
		{unix(macTemp + "/s"), true, true, true},
		{unix("/private/var/run/docker.sock"), false, false, false},
		{unix("/Users/ada/data/agent.sock"), false, false, false},
		{unix("/Users/ada/p/nb/agent.sock"), false, false, false},
		{unix("/private/var/run/mDNSResponder"), false, false, true},
		{action{operation: "mach-lookup", name: "com.apple.trustd.agent"}, false, false, true},
		{action{operation: "mach-lookup", name: "com.apple.dnssd.service"}, false, false, true},
		{action{operation: "mach-lookup", name: "com.apple.system.logger"}, true, true, true},
		{action{operation: "mach-lookup", name: "com.apple.SecurityServer"}, false, false, false},
		{action{operation: "mach-lookup", name: "com.apple.coreservices.launchservicesd"}, false, false, false},
		{action{operation: "sysctl-read", name: "hw.ncpu"}, true, true, true},
		{action{operation: "sysctl-read", name: "kern.procargs2"}, false, false, false},
		{action{operation: "appleevent-send"}, false, false, false},
		{action{operation: "lsopen"}, false, false, false},
		{action{operation: "mach-priv-task-port"}, false, false, false},
	} {
		for network, want := range map[Network]bool{NetworkNone: c.none, NetworkAllowlist: c.allowlist, NetworkHost: c.host} {
			m := rulesOf(t, func(p *Policy) { p.Network = network })
			assert.Equal(t, want, m.allows(c.a), "%s: %+v", network, c.a)
		}
	}
}
