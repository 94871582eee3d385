package launcher

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/internal/witness"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// service is a server on the host's loopback that answers every client with what it sent, in capitals, once it has sent all.
func service(t testing.TB) (port int) {
	t.Helper()
	l := witness.ListenLow(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				b, _ := io.ReadAll(c)
				io.WriteString(c, strings.ToUpper(string(b)))
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// knock defines what a program does with a port of its localhost: it says what it gets for "word", or the error that it meets.
const knock = `
import socket
def knock(port):
    try:
        s = socket.create_connection(("127.0.0.1", port), 30)
        s.sendall(b"word" * 100000); s.shutdown(socket.SHUT_WR)
        got = b""
        while b := s.recv(65536): got += b
        return "answered" if got == b"WORD" * 100000 else "got %d bytes" % len(got)
    except OSError as e:
        return type(e).__name__
`

func knockOutside(t testing.TB, port int) string {
	t.Helper()
	c, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", itoa(port)))
	if err != nil {
		return "refused"
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(30 * time.Second))
	io.WriteString(c, "word")
	c.(*net.TCPConn).CloseWrite()
	b, err := io.ReadAll(c)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestAForwardShowsOneServiceAndNoOther(t *testing.T) {
	shown, other := service(t), service(t)
	require.Equal(t, []string{"WORD", "WORD"}, []string{knockOutside(t, shown), knockOutside(t, other)}, "the control: both answer on the host")
	elsewhere := witness.FreePort(t)
	code := knock + fmt.Sprintf("print(*map(knock, (%d, %d, %d)))", shown, other, elsewhere)
	for _, network := range []string{"none", "allowlist"} {
		out, _ := python(t, Spec{Overrides: Overrides{Network: network}}, code)
		assert.Equal(t, "ConnectionRefusedError ConnectionRefusedError ConnectionRefusedError", out, network)
		forward := []string{itoa(shown), fmt.Sprintf("%d:localhost:%d", elsewhere, shown)}
		out, _ = python(t, Spec{Overrides: Overrides{Network: network, Forward: forward}}, code)
		assert.Equal(t, "answered ConnectionRefusedError answered", out, network)
	}
}

func TestAServiceThatDoesNotAnswerIsSaidOnce(t *testing.T) {
	port := witness.FreePort(t)
	require.Equal(t, "refused", knockOutside(t, port), "the control: nothing listens there")
	out, _ := python(t, Spec{Overrides: Overrides{Forward: []string{itoa(port)}}}, knock+fmt.Sprintf("print(all(knock(%d).endswith('Error') for _ in range(5)))", port))
	assert.Contains(t, out, "True")
	assert.Equal(t, 1, strings.Count(out, fmt.Sprintf("forward %d: 127.0.0.1:%d does not answer", port, port)), out)
}

// serving is a program that serves HTTP on a port of its own localhost, upgrades to WebSocket included.
const serving = `
import base64, hashlib, http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket":
            key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            self.send_response(101); self.send_header("Upgrade", "websocket"); self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()); self.end_headers()
            self.wfile.write(b"\x81\x05hello"); self.wfile.flush()
            frame = self.rfile.read(11)
            self.wfile.write(b"\x81\x05" + bytes(b ^ frame[2 + i % 4] for i, b in enumerate(frame[6:]))); self.close_connection = True
        else:
            self.send_response(200); self.send_header("Content-Length", "3"); self.end_headers(); self.wfile.write(b"app")
def serve(port):
    http.server.ThreadingHTTPServer(("127.0.0.1", port), H).serve_forever()
`

// server runs it as a command of its own.
func server(t *testing.T, s Spec, port int) *Kernel {
	t.Helper()
	s.Command = []string{systemPython, "-I", "-S", "-c", serving + fmt.Sprintf("serve(%d)", port)}
	return launch(t, s)
}

func get(t testing.TB, address string) string {
	t.Helper()
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get("http://" + address + "/")
	if err != nil {
		return "no answer"
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(b)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", itoa(port)) }

// otherAddresses are the machine's, besides 127.0.0.1.
func otherAddresses(t testing.TB) []string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	list := []string{"127.0.0.2"}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

func TestAPublishedPortAnswersLoopbackAlone(t *testing.T) {
	inside, port := witness.FreePort(t), witness.FreePort(t)
	everywhere, err := net.Listen("tcp4", "0.0.0.0:0")
	require.NoError(t, err)
	go http.Serve(everywhere, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "open") }))
	t.Cleanup(func() { everywhere.Close() })

	k := server(t, Spec{}, inside)
	assert.Equal(t, "no answer", get(t, loopback(inside)))
	require.NoError(t, k.OpenPort(t.Context(), Published, fmt.Sprintf("%d:%d", port, inside)))
	assert.Equal(t, "app", get(t, loopback(port)))
	for _, address := range otherAddresses(t) {
		require.Equal(t, "open", get(t, net.JoinHostPort(address, itoa(everywhere.Addr().(*net.TCPAddr).Port))), "the control: the machine answers at %s", address)
		assert.Equal(t, "no answer", get(t, net.JoinHostPort(address, itoa(port))), address)
	}

	open := k.Ports(Published)
	require.Len(t, open, 1)
	assert.Equal(t, []any{uint16(inside), "127.0.0.1", uint16(port)}, []any{open[0].Port, open[0].Host, open[0].HostPort})
	require.NoError(t, k.ClosePort(Published, itoa(port)))
	assert.Equal(t, "no answer", get(t, loopback(port)))
	assert.Empty(t, k.Ports(Published))
	var fault *PortError
	require.ErrorAs(t, k.ClosePort(Published, itoa(port)), &fault)
	assert.Equal(t, CauseClosed, fault.Cause)

	require.NoError(t, k.OpenPort(t.Context(), Published, fmt.Sprintf("%d:%d", port, inside)))
	k.Kill()
	assert.Equal(t, "refused", knockOutside(t, port))
	assert.ErrorIs(t, k.OpenPort(t.Context(), Published, itoa(port)), ErrEnded)
}

func TestAWebSocketPassesAPublishedPort(t *testing.T) {
	port := witness.FreePort(t)
	server(t, Spec{Overrides: Overrides{Network: "none", Publish: []string{itoa(port)}}}, port)
	c, err := net.Dial("tcp4", loopback(port)) // before it listens inside
	require.NoError(t, err)
	defer c.Close()
	c.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
	var head strings.Builder
	for b := make([]byte, 1); !strings.HasSuffix(head.String(), "\r\n\r\n"); {
		_, err := c.Read(b)
		require.NoError(t, err, head.String())
		head.Write(b)
	}
	sum := sha1.Sum([]byte("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	assert.Contains(t, head.String(), "101 ")
	assert.Contains(t, head.String(), base64.StdEncoding.EncodeToString(sum[:]))
	frame := make([]byte, 7)
	_, err = io.ReadFull(c, frame)
	require.NoError(t, err)
	assert.Equal(t, "\x81\x05hello", string(frame), "the server speaks first")
	c.Write([]byte{0x81, 0x85, 1, 2, 3, 4, 'w' ^ 1, 'o' ^ 2, 'r' ^ 3, 'l' ^ 4, 'd' ^ 1})
	_, err = io.ReadFull(c, frame)
	require.NoError(t, err)
	assert.Equal(t, "\x81\x05world", string(frame))
}

func TestAPortOfTheMachineThatIsTaken(t *testing.T) {
	port := service(t)
	_, err := try(t, Spec{Command: []string{"/bin/true"}, Overrides: Overrides{Publish: []string{itoa(port)}}})
	var fault *PortError
	require.ErrorAs(t, err, &fault, "a flag asks for it")
	assert.Equal(t, CauseTaken, fault.Cause)
	assert.Contains(t, err.Error(), fmt.Sprintf("port %d of this machine cannot be had: bind: address already in use", port))

	var said witness.Output
	cfg := with(func(c *Config) { c.Sandbox.Publish = []config.Publish{{HostPort: uint16(port), Port: uint16(port)}} })
	k := launch(t, Spec{Config: cfg, Stderr: &said, Command: []string{"/bin/sleep", "300"}})
	assert.Contains(t, said.String(), err.Error(), "a configuration names it for every kernel")
	open := k.Ports(Published)
	require.Len(t, open, 1)
	assert.Equal(t, fault.Problem, open[0].Problem)
	assert.Equal(t, "WORD", knockOutside(t, port), "it is still the other's")
	assert.ErrorAs(t, k.OpenPort(t.Context(), Published, itoa(port)), &fault)
}

func TestARestartInPlaceKeepsWhatIsOpen(t *testing.T) {
	fromFile, fromFlag, later, gone := service(t), service(t), service(t), service(t)
	inside, port := witness.FreePort(t), witness.FreePort(t)
	cfg := with(func(c *Config) {
		c.Sandbox.Forward = []config.Forward{{Port: uint16(fromFile), Host: "127.0.0.1", HostPort: uint16(fromFile)}, {Port: uint16(gone), Host: "127.0.0.1", HostPort: uint16(gone)}}
	})
	k := launch(t, Spec{Config: cfg, Overrides: Overrides{Forward: []string{itoa(fromFlag)}}})
	ask := knock + fmt.Sprintf("print(*map(knock, (%d, %d, %d, %d)))", fromFile, fromFlag, later, gone)
	serve := serving + fmt.Sprintf("import threading\nthreading.Thread(target=serve, args=(%d,), daemon=True).start()", inside)
	before, _ := cell(t, dial(t, k), ask)
	assert.Equal(t, "answered answered ConnectionRefusedError answered", before)

	require.NoError(t, k.OpenPort(t.Context(), Forwarded, itoa(later)))
	require.NoError(t, k.ClosePort(Forwarded, itoa(gone)))
	require.NoError(t, k.OpenPort(t.Context(), Published, fmt.Sprintf("%d:%d", port, inside)))
	for _, when := range []string{"now", "after a restart"} {
		c := dial(t, k)
		out, _ := cell(t, c, ask)
		assert.Equal(t, "answered answered answered ConnectionRefusedError", out, when)
		cell(t, c, serve)
		assert.Equal(t, "app", get(t, loopback(port)), when)
		require.NoError(t, k.Restart(within(t, time.Minute)))
	}
	require.NoError(t, k.OpenPort(t.Context(), Forwarded, itoa(gone)))
	out, _ := cell(t, dial(t, k), ask)
	assert.Equal(t, "answered answered answered answered", out)
}

func TestARunningKernelIsHeldBelowTheCeiling(t *testing.T) {
	allowed, other := service(t), service(t)
	dir := folder(t)
	policy := filepath.Join(dir, "policy.yaml")
	require.NoError(t, os.WriteFile(policy, fmt.Appendf(nil, "sandbox: {forward: [%d], publish: []}\n", allowed), 0o644))
	cfg := DefaultConfig()
	require.NoError(t, cfg.HoldBelow(filepath.Join(dir, "config.yaml"), ""))
	k := launch(t, Spec{Config: cfg, Command: []string{"/bin/sleep", "300"}})
	assert.NoError(t, k.OpenPort(t.Context(), Forwarded, itoa(allowed)))
	for way, text := range map[Way]string{Forwarded: itoa(other), Published: itoa(witness.FreePort(t))} {
		var fault *PortError
		require.ErrorAs(t, k.OpenPort(t.Context(), way, text), &fault)
		assert.Equal(t, CauseCeiling, fault.Cause)
		assert.Contains(t, fault.Error(), policy+":1 allows ")
	}
	assert.Len(t, k.Ports(Forwarded), 1)
	assert.Empty(t, k.Ports(Published))
}

func TestAPortInsideThatIsTaken(t *testing.T) {
	port := witness.FreePort(t)
	k := server(t, Spec{}, port)
	require.NoError(t, k.OpenPort(t.Context(), Published, itoa(port)))
	require.Equal(t, "app", get(t, loopback(port)), "it listens")
	var fault *PortError
	require.NoError(t, k.ClosePort(Published, itoa(port)))
	require.ErrorAs(t, k.OpenPort(t.Context(), Forwarded, itoa(port)), &fault)
	assert.Equal(t, CauseTaken, fault.Cause)
	require.ErrorAs(t, k.OpenPort(t.Context(), Forwarded, itoa(egressPort)), &fault)
	assert.Contains(t, fault.Error(), "the egress proxy's")
}

func TestThePlanSaysWhatIsOpen(t *testing.T) {
	p, err := planned(t, Spec{Overrides: Overrides{Forward: []string{"5432:db.lab.test:5433"}, Publish: []string{"8051:8050"}}})
	require.NoError(t, err)
	all := strings.Join(p.Sentences(), "\n")
	assert.Contains(t, all, "Forwarded: port 5432 inside is db.lab.test:5433")
	assert.Contains(t, all, "Published: port 8050 inside is 127.0.0.1:8051 of this machine")
	assert.True(t, slices.ContainsFunc(p.Sandbox.Missing, func(g sandbox.Guarantee) bool {
		return g.ID == "forward" && strings.HasPrefix(g.Text, "db.lab.test:5433")
	}))
}

func TestPortsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		o    Overrides
		want string
	}{
		{Overrides{Network: "host", Forward: []string{"5432"}}, "forward 5432: with network host"},
		{Overrides{Network: "host", Publish: []string{"8050"}}, "publish 8050: with network host"},
		{Overrides{Forward: []string{"3128"}}, "forward 3128: port 3128 inside is the egress proxy's"},
		{Overrides{Publish: []string{"8050:3128"}}, "publish 8050:3128: port 3128 inside is the egress proxy's"},
		{Overrides{Forward: []string{"5001", "5001:db.lab.test:1"}}, "forward 5001:db.lab.test:1: port 5001 inside is taken by forward 5001"},
		{Overrides{Forward: []string{"80"}}, "forward 80: ports below 1024 cannot be had inside: give it another number, such as 8080:127.0.0.1:80"},
		{Overrides{Publish: []string{"80"}}, "publish 80: no program inside can listen on a port below 1024: let it take another, and publish that, such as 80:8080"},
		{Overrides{Publish: []string{"8050", "8050:8001"}}, "publish 8050:8001: port 8050 of this machine is taken by publish 8050"},
		{Overrides{Forward: []string{"9000:127.0.0.1:8050"}, Publish: []string{"8050:9000"}}, "publish 8050:9000: port 9000 inside is taken by forward 9000:127.0.0.1:8050"},
		{Overrides{Forward: []string{"50113"}}, "forward 50113: port 50113 inside is the kernel's own: its stdin channel"},
	} {
		s := Spec{Overrides: c.o, connection: connection("127.0.0.1", "tcp", 50111, 50112, 50113, 50114, 50115)}
		_, err := planned(t, s)
		require.ErrorContains(t, err, c.want)
	}
	_, err := planned(t, Spec{Overrides: Overrides{Network: "none", Forward: []string{"3128", "3128", "5001", "5002"}, Publish: []string{"8050:8080", "8051:8080"}}})
	assert.NoError(t, err, "there is no proxy, and the same twice is one")
}

func TestConnectionsThroughAForwardAreLogged(t *testing.T) {
	port := service(t)
	for _, network := range []string{"none", "allowlist"} {
		state := folder(t)
		s := Spec{Overrides: Overrides{Network: network, Forward: []string{itoa(port)}}, Environ: append(os.Environ(), "XDG_STATE_HOME="+state)}
		out, _ := python(t, s, knock+fmt.Sprintf("print(knock(%d))", port))
		require.Equal(t, "answered", out)
		var entry struct {
			Method, Host, Verdict, Rule, End string
			Port                             uint16
			Sent, Received                   int64
		}
		require.NoError(t, json.Unmarshal([]byte(text(t, state+"/kernel-launch/log/egress.jsonl")), &entry))
		assert.Equal(t, []any{"FORWARD", "127.0.0.1", uint16(port), "allow", "forward " + itoa(port), int64(400_000), int64(400_000), "closed"},
			[]any{entry.Method, entry.Host, entry.Port, entry.Verdict, entry.Rule, entry.Sent, entry.Received, entry.End}, network)
	}
}
