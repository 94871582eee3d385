package cli

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// echo answers on loopback with what it is sent.
func echo(t *testing.T) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); io.Copy(conn, conn) }()
		}
	}()
	return l.Addr()
}

const refusedThenAllowed = `
import os, socket, time, urllib.parse
proxy = urllib.parse.urlsplit(os.environ['HTTPS_PROXY'])
def connect(host):
    s = socket.create_connection((proxy.hostname, proxy.port), 30)
    s.sendall(f'CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n'.encode())
    head = b''
    while b'\r\n\r\n' not in head: head += s.recv(4096)
    return s, head.split(b' ')[1].decode()
def echoes(s):
    s.sendall(b'ping')
    return s.recv(4) == b'ping'
first, status = connect('open.live.test')
print(status, echoes(first))
second, status = connect('new.live.test')
print(status)
end = time.time() + 90
while status != '200' and time.time() < end:
    time.sleep(.1)
    second, status = connect('new.live.test')
print(status, echoes(second), echoes(first))
`

// The line that a refusal ends with is pasted into a shell somewhere else, and the kernel that runs follows.
func TestTheLineOfARefusalOpensItForTheRunningKernel(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	config := filepath.Join(t.TempDir(), "kernel-launch")
	require.NoError(t, os.Mkdir(config, 0o700))
	text := fmt.Sprintf("# mine\negress:\n  allow: [open.live.test]\n  pin: {.live.test: \"%s\"}\n", echo(t))
	require.NoError(t, os.WriteFile(filepath.Join(config, "config.yaml"), []byte(text), 0o600))

	folder := filepath.Join(w.notebooks, "it's here")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	kernel := w.command("eval", "--env", "default", "--timeout", "3m", refusedThenAllowed)
	kernel.Env = append(kernel.Env, "XDG_CONFIG_HOME="+filepath.Dir(config))
	kernel.Dir = folder
	var out strings.Builder
	kernel.Stdout = &out
	said, err := kernel.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, kernel.Start())
	var all strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if _, line, ok := strings.Cut(lines.Text(), "refused new.live.test:443 (not-listed); to allow it: "); ok {
			paste := exec.Command("/bin/sh", "-c", line)
			paste.Env = append(kernel.Env, "PATH="+filepath.Dir(w.launcher)+":/usr/bin:/bin")
			paste.Dir = "/"
			answer, err := paste.CombinedOutput()
			assert.NoError(t, err, "%s: %s", line, answer)
		}
	}
	require.NoError(t, kernel.Wait(), all.String())
	assert.Equal(t, "200 True\n403\n200 True True\n", out.String(), all.String())
	got, err := os.ReadFile(filepath.Join(config, "config.yaml"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(got), text), "%s", got)
	assert.Contains(t, string(got), "it's here")
}

const allowedByTheAnswer = `
import json, time, urllib.error, urllib.request
def ask():
    try: return urllib.request.urlopen('http://new.live.test/', timeout=30).status, b''
    except urllib.error.HTTPError as e: return e.code, e.read()
status, body = ask()
print(status, json.loads(body)['allow'], flush=True)
end = time.time() + 90
while status != 200 and time.time() < end:
    time.sleep(.1)
    status, body = ask()
print(status, flush=True)
`

// What the refused client reads in the answer's body is the line to paste, too.
func TestTheLineInTheAnswerOpensItForTheRunningKernel(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	origin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(origin.Close)
	config := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(config, "kernel-launch"), 0o700))
	text := fmt.Sprintf("egress: {pin: {.live.test: \"%s\"}}\n", origin.Listener.Addr())
	require.NoError(t, os.WriteFile(filepath.Join(config, "kernel-launch", "config.yaml"), []byte(text), 0o600))

	kernel := w.command("eval", "--env", "default", "--timeout", "3m", allowedByTheAnswer)
	kernel.Env = append(kernel.Env, "XDG_CONFIG_HOME="+config)
	kernel.Dir = filepath.Join(w.notebooks, "what's in the answer")
	require.NoError(t, os.MkdirAll(kernel.Dir, 0o700))
	var said strings.Builder
	kernel.Stderr = &said
	out, err := kernel.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, kernel.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	line, refused := strings.CutPrefix(lines.Text(), "403 ")
	assert.True(t, refused, lines.Text())
	paste := exec.Command("/bin/sh", "-c", line)
	paste.Env = append(kernel.Env, "PATH="+filepath.Dir(w.launcher)+":/usr/bin:/bin")
	paste.Dir = "/"
	answer, err := paste.CombinedOutput()
	assert.NoError(t, err, "%s: %s", line, answer)
	require.True(t, lines.Scan())
	assert.Equal(t, "200", lines.Text())
	require.NoError(t, kernel.Wait(), said.String())
}

func TestALogIsFollowed(t *testing.T) {
	w := theWorld()
	require.NoError(t, w.err)
	state := t.TempDir()
	path := filepath.Join(state, "kernel-launch", "log", "egress.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	write := func(host, verdict string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = fmt.Fprintf(f, "{\"time\":\"2025-01-02T03:04:05Z\",\"kernel\":\"k1\",\"host\":%q,\"port\":443,\"verdict\":%q,\"code\":\"x\"}\n", host, verdict)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	write("a.test", "deny")
	cmd := w.command("egress", "log", "--follow", "--denied", "--json")
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+state)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	next := func(host string) {
		t.Helper()
		require.True(t, lines.Scan())
		assert.Contains(t, lines.Text(), `{"schema":1,`)
		assert.Contains(t, lines.Text(), `"host":"`+host+`"`)
	}
	next("a.test")
	write("not.test", "allow")
	write("b.test", "deny")
	next("b.test")
	write("c.test", "deny")
	require.NoError(t, os.Rename(path, path+".1"))
	write("d.test", "deny")
	next("c.test")
	next("d.test")
}
