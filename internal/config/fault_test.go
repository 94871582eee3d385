package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faults maps a file to what is said about it, line by line. "…" at the end of a line stands for words of another package.
var faults = map[string]struct{ text, want string }{
	"unknown key":                 {"egres: {}\n", `config.yaml:1: unknown key "egres" (did you mean "egress"?)`},
	"unknown key below":           {"sandbox:\n  limits: {memry: 1GiB}\n", `config.yaml:2: sandbox.limits: unknown key "memry" (did you mean "memory"?)`},
	"unknown key, nothing near":   {"telemetry: {}\n", `config.yaml:1: unknown key "telemetry"`},
	"unknown key in a folder":     {"folders:\n  ~/work:\n    egress: {alow: []}\n", `config.yaml:3: folders[~/work].egress: unknown key "alow" (did you mean "allow"?)`},
	"key twice":                   {"egress:\n  allow: []\n  deny: []\n  allow: []\n", `config.yaml:4: egress: key "allow" is there twice (first on line 2)`},
	"section twice":               {"egress: {}\negress: {}\n", `config.yaml:2: key "egress" is there twice (first on line 1)`},
	"list for a mapping":          {"egress: []\n", `config.yaml:1: egress: must be a mapping, not a list`},
	"text for a mapping":          {"sandbox: strict\n", `config.yaml:1: sandbox: must be a mapping, not text`},
	"text for a list":             {"egress:\n  allow: pypi.org\n", `config.yaml:2: egress.allow: must be a list ("[]" for none), not text`},
	"nothing for a list":          {"egress:\n  allow:\n", `config.yaml:2: egress.allow: must be a list ("[]" for none), not nothing`},
	"list for a value":            {"sandbox:\n  network: [none]\n", `config.yaml:2: sandbox.network: must be one value, not a list`},
	"nothing for a value":         {"sandbox: {network: }\n", `config.yaml:1: sandbox.network: has no value`},
	"a bare tilde":                {"sandbox: {hide: [~]}\n", `config.yaml:1: sandbox.hide: has no value: a bare ~ means nothing in YAML, the home folder is "~" in quotes`},
	"number for a switch":         {"sandbox: {debug: 1}\n", `config.yaml:1: sandbox.debug: must be true or false, not "1"`},
	"word for a switch":           {"sandbox: {debug: yes}\n", `config.yaml:1: sandbox.debug: must be true or false, not "yes"`},
	"a file that is a list":       {"- egress\n", `config.yaml:1: must be a mapping of keys such as "egress:", not a list`},
	"a file that is text":         {"\n\negress\n", `config.yaml:3: must be a mapping of keys such as "egress:", not text`},
	"a key that is a list":        {"? [a]\n: b\n", `config.yaml:1: a key must be text, not a list`},
	"a second document":           {"egress: {}\n---\negress: {}\n", `config.yaml:2: a second document ("---"); there may be one`},
	"an alias":                    {"sandbox:\n  read: [&a /data, *a]\n", `config.yaml:2: sandbox.read: an alias (*a) is not read here: write the value out`},
	"a tag":                       {"sandbox:\n  network: !!str none\n", `config.yaml:2: sandbox.network: a tag (!!str) is not read here`},
	"every host":                  {"egress:\n  allow: [\"*\"]\n", `config.yaml:2: egress.allow: rule "*": …`},
	"white space in a rule":       {"egress:\n  allow: [\"exa mple.test\"]\n", `config.yaml:2: egress.allow: rule "exa mple.test": …`},
	"a URL for a rule":            {"egress:\n  deny:\n    - ok.test\n    - https://evil.test/x\n", `config.yaml:4: egress.deny: rule "https://evil.test/x": …`},
	"group":                       {"egress: {groups: [bio, pyton]}\n", `config.yaml:1: egress.groups: unknown group "pyton" (did you mean "python"?); there are: …`},
	"pin to a name":               {"egress:\n  pin:\n    lab.test: other.test\n", `config.yaml:3: egress.pin: pin lab.test to "other.test"…`},
	"one pin in two spellings":    {"egress:\n  pin:\n    lab.test: 127.0.0.1:1\n    LAB.test.: 127.0.0.1:2\n", `config.yaml:4: egress.pin: "LAB.test." and "lab.test" are the same`},
	"inward to loopback":          {"egress: {allow_inward: {db.lab.test: 127.0.0.0/8}}\n", `config.yaml:1: egress.allow_inward: allow_inward "db.lab.test" "127.0.0.0/8"…`},
	"screen":                      {"egress: {screen: off}\n", `config.yaml:1: egress.screen: unknown screen "off"; it is one of: normal, strict`},
	"size":                        {"sandbox:\n  limits: {memory: lots}\n", `config.yaml:2: sandbox.limits.memory: size "lots" …`},
	"decimal size":                {"sandbox:\n  limits: {tmp: 1GB}\n", `config.yaml:2: sandbox.limits.tmp: size "1GB" …`},
	"processes":                   {"sandbox: {limits: {processes: -1}}\n", `config.yaml:1: sandbox.limits.processes: must be a whole number from 0, not "-1"`},
	"cpus":                        {"sandbox: {limits: {cpus: .inf}}\n", `config.yaml:1: sandbox.limits.cpus: must be a number of processors from 0, not ".inf"`},
	"backend":                     {"sandbox: {backend: chroot}\n", `config.yaml:1: sandbox.backend: unknown backend "chroot"; it is one of: auto, bubblewrap, seatbelt, appcontainer, off`},
	"backend, a slip":             {"sandbox: {backend: bublewrap}\n", `config.yaml:1: sandbox.backend: unknown backend "bublewrap" (did you mean "bubblewrap"?); it is one of: auto, bubblewrap, seatbelt, appcontainer, off`},
	"network":                     {"sandbox: {network: allow}\n", `config.yaml:1: sandbox.network: network "allow" …`},
	"links":                       {"sandbox: {links: maybe}\n", `config.yaml:1: sandbox.links: unknown word "maybe"; it is one of: deny, allow`},
	"gpu":                         {"sandbox: {gpu: intel}\n", `config.yaml:1: sandbox.gpu: unknown gpu "intel"; it is one of: none, nvidia, amd`},
	"relative path":               {"sandbox:\n  read:\n    - data\n", `config.yaml:3: sandbox.read: the path "data" must be absolute or begin with "~/"`},
	"another user's home":         {"sandbox: {read: [~root/x]}\n", `config.yaml:1: sandbox.read: the path "~root/x" must be absolute or begin with "~/"`},
	"control character in a path": {"sandbox: {hide: [\"/a\\tb\"]}\n", `config.yaml:1: sandbox.hide: the path "/a b" holds a control character`},
	"variable":                    {"sandbox: {env: {pass: [\"A B\"]}}\n", `config.yaml:1: sandbox.env.pass: "A B" is no name of a variable`},
	"variable to set":             {"sandbox: {env: {set: {A=B: x}}}\n", `config.yaml:1: sandbox.env.set: "A=B" is no name of a variable`},
	"value with NUL":              {"sandbox: {env: {set: {A: \"x\\0y\"}}}\n", `config.yaml:1: sandbox.env.set: "A": a value cannot hold a NUL byte`},
	"forward":                     {"sandbox: {forward: [\"5432:db\"]}\n", `config.yaml:1: sandbox.forward: must be PORT or PORT:HOST:PORT, an IPv6 address in brackets, not "5432:db"`},
	"port":                        {"sandbox: {publish: [65536]}\n", `config.yaml:1: sandbox.publish: must be a port from 1 to 65535, not "65536"`},
	"bound of nothing":            {"egress:\n  bounds: {connections: 0}\n", `config.yaml:2: egress.bounds.connections: must be 1 or more, not 0`},
	"head":                        {"egress: {bounds: {head: 12}}\n", `config.yaml:1: egress.bounds.head: must be from 1KiB to 16MiB, not "12"`},
	"duration":                    {"egress:\n  bounds: {dial: soon}\n", `config.yaml:2: egress.bounds.dial: must be a duration such as 30s, 10m, 36h or 7d, not "soon"`},
	"no time":                     {"egress: {bounds: {idle: 0s}}\n", `config.yaml:1: egress.bounds.idle: "0s": must be longer than 0`},
	"age":                         {"install: {min_age: -3d}\n", `config.yaml:1: install.min_age: must be a duration such as 30s, 10m, 36h or 7d, not "-3d"`},
	"index":                       {"install: {index: \"ftp://user:hunter2@example.test/simple\"}\n", `config.yaml:1: install.index: must be an http or https URL with a host`},
	"index, no URL":               {"install: {index: \"https://user:hunter2@exa mple.test/\"}\n", `config.yaml:1: install.index: cannot be read as a URL`},
	"uv":                          {"install: {uv: sometimes}\n", `config.yaml:1: install.uv: must be auto, off or an absolute path, not "sometimes"`},
	"approve":                     {"install: {approve: yes}\n", `config.yaml:1: install.approve: unknown word "yes"; it is one of: ask, never`},
	"restart":                     {"restart: {when: requird}\n", `config.yaml:1: restart.when: unknown word "requird" (did you mean "required"?); it is one of: required, recommended, never`},
	"hook with a pipe":            {"hooks:\n  after_install:\n    - make report | mail me\n", `config.yaml:3: hooks.after_install: "make report | mail me": is more than one command with arguments, and no shell runs it`},
	"hook without end":            {"hooks: {after_restart: [\"notify 'me\"]}\n", `config.yaml:1: hooks.after_restart: "notify 'me": cannot be split into arguments: …`},
	"hook without command":        {"hooks: {before_restart: [[]]}\n", `config.yaml:1: hooks.before_restart: names no command`},
	"hook of two kinds":           {"hooks: {before_restart: [[a, {b: c}]]}\n", `config.yaml:1: hooks.before_restart: must be one value, not a mapping`},
	"credential": {"egress:\n  credentials:\n    - {host: .example.test, header: \"X Y\", value_from: {env: A, file: /x}}\n", `config.yaml:3: egress.credentials.host: target ".example.test"…
config.yaml:3: egress.credentials.header: is no name of a header
config.yaml:3: egress.credentials.value_from: must name exactly one of env, file and command`},
	"credential, parts that would be ignored": {"egress:\n  credentials:\n    - {host: \"api.example.test:8443\", header: Transfer-Encoding, value_from: {env: A}}\n    - {host: api.example.test, header: proxy-authorization, value_from: {env: A}}\n", `config.yaml:3: egress.credentials.host: "api.example.test:8443": must be a name without a port; it holds for every port of the host
config.yaml:3: egress.credentials.header: "Transfer-Encoding": is a header that the proxy writes itself
config.yaml:4: egress.credentials.header: "proxy-authorization": is a header that the proxy writes itself`},
	"credential, twice": {"egress:\n  credentials:\n    - {host: api.example.test, header: X-Key, value_from: {env: A}}\n    - {host: API.example.test., header: x-key, value_from: {env: B}}\n    - {host: api.example.test, header: X-Other, value_from: {env: B}}\n", `config.yaml:3: egress.credentials: x-key for API.example.test. stands there twice`},
	"credential, a value in the wrong place": {"egress:\n  credentials:\n    - {host: a.test, header: \"Authorization: T0PSECRET\", value_from: {env: \"Bearer T0PSECRET\"}}\n    - {host: b.test, header: X-A, value_from: {command: \"curl -H T0PSECRET | jq\"}}\n    - {host: b.test, header: X-B, value_from: {command: \"echo 'T0PSECRET\"}}\n", `config.yaml:3: egress.credentials.header: is no name of a header
config.yaml:3: egress.credentials.value_from.env: is no name of a variable; the name stands here, not the value
config.yaml:4: egress.credentials.value_from.command: is more than one command with arguments, and no shell runs it
config.yaml:5: egress.credentials.value_from.command: cannot be split into arguments: invalid command line string`},
	"credential, missing parts": {"egress:\n  credentials:\n    - {host: 192.0.2.1}\n", `config.yaml:3: egress.credentials.host: "192.0.2.1": must be the name of one host, not an address
config.yaml:3: egress.credentials: "header" is missing
config.yaml:3: egress.credentials: "value_from" is missing`},
	"version":                 {"version: 2\n", `config.yaml:1: version: version "2" is not known here; this is 1`},
	"folder that is relative": {"folders: {work: {}}\n", `config.yaml:1: folders: the path "work" must be absolute or begin with "~/"`},
	"one folder twice":        {"folders: {~/work: {}, ~/work/: {}}\n", `config.yaml:1: folders: "~/work/" and "~/work" are the same folder`},
	"folder's environment":    {"folders:\n  ~/work: {env: ../x}\n", `config.yaml:2: folders[~/work].env: "../x" is no name of an environment: letters, digits, ".", "_" and "-", the first a letter or digit, 64 at most`},
	"profile's name":          {"profiles: {\"a b\": {}}\n", `config.yaml:1: profiles: "a b" is no name of a profile: letters, digits, ".", "_" and "-", the first a letter or digit, 64 at most`},
	"several at once": {"egres: {}\nsandbox:\n  backend: chroot\n  limits: {memory: lots}\negress:\n  allow: [\"*\", ok.test, \"a b\"]\n", `config.yaml:1: unknown key "egres" (did you mean "egress"?)
config.yaml:3: sandbox.backend: unknown backend "chroot"; it is one of: auto, bubblewrap, seatbelt, appcontainer, off
config.yaml:4: sandbox.limits.memory: size "lots" …
config.yaml:6: egress.allow: rule "*": …
config.yaml:6: egress.allow: rule "a b": …`},
	"not yet: age": {"install:\n  min_age: 7d\n", `config.yaml:2: install.min_age: not in this version: the age of files is not looked at`},
	"not yet: the rest": {"sandbox: {network: none}\negress:\n  log: all\n  credentials: [{host: api.example.test, header: Authorization, value_from: {env: KEY}}]\nhooks:\n  after_install: [a]\n  before_restart: [b]\n  after_restart: [[c, d]]\n", `config.yaml:6: hooks.after_install: not in this version: hooks are not run
config.yaml:7: hooks.before_restart: not in this version: hooks are not run
config.yaml:8: hooks.after_restart: not in this version: hooks are not run`},
	"syntax: open list":     {"egress: [\n", `config.yaml:1: not YAML: …`},
	"syntax: open mapping":  {"version: 1\nsandbox: {}\negress: {allow: []\n", `config.yaml:3: not YAML: …`},
	"syntax: first line":    {"a: b: c\n", `config.yaml:1: not YAML: …`},
	"syntax: second line":   {"version: 1\negress: a: b\n", `config.yaml:2: not YAML: …`},
	"syntax: stray bracket": {"version: 1\nsandbox: {}\negress: ]\n", `config.yaml:3: not YAML: …`},
	"syntax: tab":           {"egress:\n\tallow: []\n", `config.yaml:2: not YAML: …`},
	"syntax: open quote":    {"version: 1\negress: {allow: [\"x]}\n", `config.yaml:2: not YAML: …`},
	"syntax: escape":        {"version: 1\negress: {allow: [\"\\q\"]}\n", `config.yaml:2: not YAML: …`},
	"syntax: anchor":        {"version: 1\n\negress: *nowhere\n", `config.yaml:3: not YAML: …`},
	"not UTF-8":             {"version: 1\negress: {} # \xff\n", `config.yaml:2: not UTF-8 text`},
}

func TestEveryFaultIsSaidWithItsLine(t *testing.T) {
	for name, tc := range faults {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).user(tc.text)
			err := w.fails()
			assertLines(t, tc.want, err.Error())
			var f *FaultError
			require.True(t, errors.As(err, &f), "a typed fault")
			assert.Equal(t, w.s.User, f.File)
		})
	}
}

func assertLines(t *testing.T, want, got string) {
	t.Helper()
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	require.Len(t, gots, len(wants), got)
	for i, w := range wants {
		if prefix, open := strings.CutSuffix(w, "…"); open {
			assert.True(t, strings.HasPrefix(gots[i], prefix) && len(gots[i]) > len(prefix), "%q does not go on from %q", gots[i], prefix)
			continue
		}
		assert.Equal(t, w, gots[i])
	}
}

func TestASecretInAFaultyAddressIsNotRepeated(t *testing.T) {
	for _, name := range []string{"index", "index, no URL"} {
		err := newWorld(t).user(faults[name].text).fails()
		require.Contains(t, faults[name].text, "hunter2")
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

func TestFaultsOfBothFilesAtOnce(t *testing.T) {
	w := newWorld(t).machine("a: 1\n").user("b: 1\n")
	err := w.fails()
	var files []string
	for _, e := range unwrapAll(err) {
		var f *FaultError
		if errors.As(e, &f) {
			files = append(files, f.File)
		}
	}
	assert.Equal(t, []string{w.s.Machine, w.s.User}, files)
}

func unwrapAll(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range many.Unwrap() {
			all = append(all, unwrapAll(e)...)
		}
		return all
	}
	return []error{err}
}

func TestSmallSlipsAreGuessedAndWildOnesAreNot(t *testing.T) {
	known := []string{"allow", "deny", "groups", "screen"}
	for word, want := range map[string]string{
		"alow": "allow", "alolw": "allow", "Allow": "allow", "group": "groups", "denny": "deny", "x": "", "": "", "hooks": "", "permit": "",
		strings.Repeat("allow", 1000): "",
	} {
		assert.Equal(t, want, nearest(word, known), word)
	}
}
