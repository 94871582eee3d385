package cli

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const topSecret = "t0ps3cret"

// site is a host with a TLS server for www.example.com, whose certificate no system knows, and a user who is allowed to reach it.
type site struct {
	t     *testing.T
	dir   string
	env   []string
	addr  string
	said  bytes.Buffer // everything that was ever printed
	mu    sync.Mutex
	heads []http.Header
}

func newSite(t *testing.T, config string) *site {
	require.NoError(t, theWorld().err)
	dir, err := os.MkdirTemp(base, "site-")
	require.NoError(t, err)
	s := &site{t: t, dir: dir}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heads = append(s.heads, r.Header.Clone())
		io.WriteString(w, "answer")
	}))
	t.Cleanup(server.Close)
	s.addr = server.Listener.Addr().String()
	bundle := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte(topSecret)})...)
	s.put("bundle.pem", string(bundle))
	s.put("key", topSecret+"\n")
	s.put("config/kernel-launch/config.yaml", strings.NewReplacer("$DIR", dir, "$ADDR", s.addr).Replace(config))
	s.env = []string{"XDG_CONFIG_HOME=" + dir + "/config", "XDG_STATE_HOME=" + dir + "/state", "SSL_CERT_FILE=" + dir + "/bundle.pem", "NO_PROXY=", "no_proxy=", "API_KEY=" + topSecret}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"} {
		s.env = append(s.env, name+"=")
	}
	return s
}

func (s *site) put(name, text string) {
	path := filepath.Join(s.dir, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
}

// runs a command of ours and returns what it printed.
func (s *site) runs(args ...string) (out, said string) {
	s.t.Helper()
	cmd := theWorld().command(args...)
	cmd.Env = append(slices.Clone(cmd.Env), s.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Stdin = &stdout, &stderr, strings.NewReader("input")
	require.NoError(s.t, cmd.Run(), "%v: %s %s", args, &stdout, &stderr)
	s.said.Write(stdout.Bytes())
	s.said.Write(stderr.Bytes())
	return stdout.String(), stderr.String()
}

func (s *site) python(code string) (out, said string) {
	s.t.Helper()
	return s.runs("run", "--", "/usr/bin/python3", "-ISc", code)
}

func (s *site) audit() (list []map[string]any) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "state/kernel-launch/log/egress.jsonl"))
	require.NoError(s.t, err)
	s.said.Write(b)
	for line := range strings.Lines(string(b)) {
		var e map[string]any
		require.NoError(s.t, json.Unmarshal([]byte(line), &e))
		list = append(list, e)
	}
	return list
}

const credentialConfig = `
egress:
  allow: [www.example.com]
  pin: {www.example.com: "$ADDR"}
  credentials:
    - {host: www.example.com, header: Authorization, value_from: {env: API_KEY}}
    - {host: www.example.com, header: X-File, value_from: {file: $DIR/key}}
    - {host: www.example.com, header: X-Command, value_from: {command: [/bin/cat, $DIR/key]}}
`

const getPlain = `
import os, sys, urllib.request, urllib.error
print(urllib.request.urlopen(urllib.request.Request("http://www.example.com/", headers={"Authorization": "dummy"})).read())
try: urllib.request.urlopen("http://other.example.com/")
except urllib.error.HTTPError as e: print(e, e.headers, e.read())
print(dict(os.environ), open(os.environ["SSL_CERT_FILE"]).read())
`

func TestACredentialReachesItsHostAndNobodyElse(t *testing.T) {
	s := newSite(t, credentialConfig)
	out, _ := s.python(getPlain)
	assert.Contains(t, out, "answer")
	require.Len(t, s.heads, 1)
	for _, name := range []string{"Authorization", "X-File", "X-Command"} {
		assert.Equal(t, []string{topSecret}, s.heads[0].Values(name), "the control: it is there, and as it is")
	}
	s.put("good.json", `{"ip": "127.0.0.1", "transport": "tcp", "key": "k", "signature_scheme": "hmac-sha256", "shell_port": 50111, "iopub_port": 50112, "stdin_port": 50113, "control_port": 50114, "hb_port": 50115}`)
	for _, args := range [][]string{
		{"--env", "default", "-f", s.dir + "/good.json", "--dry-run"}, {"sandbox", "show"}, {"egress", "check", "www.example.com"}, {"status"}, {"kernel", "list"}, {"env", "show", "default"},
	} {
		s.runs(args...)
		s.runs(append(args, "--json")...)
	}
	assert.Contains(t, s.said.String(), "Requests for http://www.example.com get the header Authorization")
	s.audit()
	assert.NotContains(t, s.said.String(), topSecret)
	assert.NotContains(t, s.said.String(), "PRIVATE KEY")
}

func TestACredentialThatCannotBeHadIsExplainedOutsideAlone(t *testing.T) {
	s := newSite(t, strings.Replace(credentialConfig, "$DIR/key}}\n    - {", "$DIR/nowhere}}\n    - {", 1))
	out, said := s.python(`
import urllib.request, urllib.error
for _ in range(3):
    try: urllib.request.urlopen("http://www.example.com/")
    except urllib.error.HTTPError as e: print(e, e.read())
`)
	assert.Equal(t, 3, strings.Count(out, "HTTP Error 502: the credential X-File for www.example.com cannot be had: its launcher says why"), out)
	assert.NotContains(t, out, s.dir)
	assert.Equal(t, 1, strings.Count(said, "the credential X-File for www.example.com cannot be had: "), said)
	assert.Contains(t, said, s.dir+"/nowhere")
	assert.Empty(t, s.heads)
	assert.NotContains(t, s.said.String(), topSecret)
}

func TestEveryConnectionIsLogged(t *testing.T) {
	s := newSite(t, credentialConfig)
	s.python(getPlain)
	s.python("import urllib.request\nprint(urllib.request.urlopen('https://www.example.com/').read())")
	list := s.audit()
	require.Len(t, list, 3)
	begun := func(e map[string]any) time.Time {
		at, err := time.Parse(time.RFC3339Nano, e["time"].(string))
		require.NoError(t, err)
		return at
	}
	slices.SortFunc(list, func(a, b map[string]any) int { return begun(a).Compare(begun(b)) }) // a line is written when its request is over
	for i, want := range []map[string]any{
		{"method": "GET", "host": "www.example.com", "verdict": "allow", "code": "pinned", "end": "closed", "received": 6.0},
		{"method": "GET", "host": "other.example.com", "verdict": "deny", "code": "not-listed", "end": "refused"},
		{"method": "CONNECT", "host": "www.example.com", "verdict": "allow", "code": "pinned"},
	} {
		assert.Subset(t, list[i], want)
		assert.Equal(t, "default", list[i]["environment"])
		assert.Len(t, list[i]["kernel"], 8)
	}
	assert.Equal(t, list[0]["kernel"], list[1]["kernel"])
	assert.NotEqual(t, list[0]["kernel"], list[2]["kernel"])
	dir, err := os.Stat(filepath.Join(s.dir, "state/kernel-launch/log"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), dir.Mode().Perm())
	file, err := os.Stat(filepath.Join(s.dir, "state/kernel-launch/log/egress.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), file.Mode().Perm())
}

func TestHowMuchIsLogged(t *testing.T) {
	for amount, want := range map[string]int{"denied": 1, "none": 0} {
		s := newSite(t, credentialConfig+"  log: "+amount+"\n")
		s.python(getPlain)
		if want == 0 {
			assert.NoDirExists(t, filepath.Join(s.dir, "state/kernel-launch/log"))
		} else {
			assert.Len(t, s.audit(), want)
		}
	}
}

func TestALogThatCannotBeWrittenIsToldOnceAndStopsNothing(t *testing.T) {
	for name, put := range map[string]func(*site){
		"no folder": func(s *site) { s.put("state/kernel-launch/log", "") },
		"no file":   func(s *site) { s.put("state/kernel-launch/log/egress.jsonl/x", "") },
	} {
		s := newSite(t, credentialConfig)
		put(s)
		out, said := s.python(getPlain)
		assert.Contains(t, out, "answer", name)
		assert.Equal(t, 1, strings.Count(said, "kernel-launch: what this kernel reaches is not logged: "), "%s: %s", name, said)
	}
}

func TestConnectInside(t *testing.T) {
	at := greeter(t)
	s := newSite(t, fmt.Sprintf("egress:\n  allow: [\"git.test:22\"]\n  pin: {git.test: %q}\n", at.String()))
	out, _ := s.python(`
import subprocess
def ours(*args): return subprocess.run(["kernel-launch", *args], input=b"0123456789", capture_output=True)
print(ours("connect", "git.test", "22"), ours("connect", "other.test", "22"), ours("egress", "allow", "other.test"), ours("--help").returncode, ours("version").returncode)
`)
	assert.Contains(t, out, `returncode=0, stdout=b'banner\n10 bytes\n', stderr=b''`)
	assert.Contains(t, out, `returncode=1, stdout=b'', stderr=b'kernel-launch: the proxy 127.0.0.1:3128 says 403 other.test is not on the allowlist\n'`)
	assert.Contains(t, out, `returncode=3, stdout=b'', stderr=b'kernel-launch: kernel-launch egress allow does nothing inside a sandbox: the machine outside is where it is to be said\n') 0 0`)
}

// leading is a proxy that leads every tunnel to one place, for whoever knows its password.
func leading(t *testing.T, to string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
		up, err := net.Dial("tcp", to)
		if r.Method != http.MethodConnect || err != nil || user != "worker" || password != topSecret {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		defer up.Close()
		conn, _, _ := w.(http.Hijacker).Hijack()
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(up, conn); up.(*net.TCPConn).CloseWrite() }()
		io.Copy(conn, up)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestTheHostsOwnProxyIsChainedThrough(t *testing.T) {
	s := newSite(t, "egress: {allow: [www.example.com]}\n")
	front := leading(t, s.addr).Listener.Addr().String()
	const get = "import urllib.request, urllib.error\ntry: print(urllib.request.urlopen('https://www.example.com/').read())\nexcept (urllib.error.URLError, OSError) as e: print(e)"
	s.env = append(s.env, "HTTPS_PROXY=http://worker:"+topSecret+"@"+front)
	out, _ := s.python(get + "\nimport os; print(dict(os.environ))")
	assert.Contains(t, out, "answer")
	s.env = append(s.env, "HTTPS_PROXY=http://worker:wrong@"+front)
	out, _ = s.python(get)
	assert.Contains(t, out, "502 the proxy "+front+" says 407 Proxy Authentication Required")
	list := s.audit()
	require.Len(t, list, 2)
	for i, code := range []string{"allowed", "proxy-refused"} {
		assert.Equal(t, front, list[i]["via"])
		assert.Equal(t, code, list[i]["code"])
	}
	assert.NotContains(t, s.said.String(), topSecret)
}
