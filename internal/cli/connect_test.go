package cli

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
)

// greeter is a server that speaks first, waits for the end of what it is sent and then answers.
func greeter(t *testing.T) netip.AddrPort {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var work sync.WaitGroup
	t.Cleanup(func() { l.Close(); work.Wait() })
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(20 * time.Second))
				io.WriteString(c, "banner\n")
				b, _ := io.ReadAll(c)
				fmt.Fprintf(c, "%d bytes\n", len(b))
			})
		}
	})
	return netip.MustParseAddrPort(l.Addr().String())
}

// allowing is a real egress proxy that lets host:22 through to at.
func allowing(t *testing.T, host string, at netip.AddrPort) string {
	rule, err := egress.ParseRule(host + ":22")
	require.NoError(t, err)
	pin, err := egress.ParsePin(host, at.String())
	require.NoError(t, err)
	rules := &egress.Rules{Allow: []egress.Rule{rule}, Pins: []egress.Pin{pin}}
	p := &egress.Proxy{Rules: func() (*egress.Rules, error) { return rules, nil }}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go p.Serve(l)
	t.Cleanup(func() { p.Close() })
	return l.Addr().String()
}

func connectBy(t *testing.T, env map[string]string, input string, args ...string) (status int, out, said string) {
	var stdout, stderr bytes.Buffer
	a := &app{in: strings.NewReader(input), out: &stdout, err: &stderr, getenv: func(k string) string { return env[k] }}
	status = a.run(t.Context(), append([]string{"connect"}, args...))
	return status, stdout.String(), stderr.String()
}

func TestConnectGoesThroughTheProxy(t *testing.T) {
	proxy := allowing(t, "git.test", greeter(t))
	for _, env := range []map[string]string{{"HTTPS_PROXY": "http://" + proxy}, {"https_proxy": "http://" + proxy, "HTTPS_PROXY": "http://192.0.2.1:1"}} {
		status, out, said := connectBy(t, env, strings.Repeat("x", 200_006), "git.test", "22")
		assert.Zero(t, status, said)
		assert.Equal(t, "banner\n200006 bytes\n", out, "the end of the input is passed on, and the answer comes whole")
	}
}

func TestConnectShowsTheReasonOfARefusal(t *testing.T) {
	proxy := allowing(t, "git.test", greeter(t))
	status, out, said := connectBy(t, map[string]string{"HTTPS_PROXY": "http://" + proxy}, "", "other.test", "22")
	assert.Equal(t, statusFailed, status)
	assert.Empty(t, out)
	assert.Equal(t, "kernel-launch: the proxy "+proxy+" says 403 other.test is not on the allowlist\n", said)
}

func TestConnectGoesDirectlyWithoutAProxy(t *testing.T) {
	at := greeter(t)
	status, out, said := connectBy(t, nil, "abc", at.Addr().String(), fmt.Sprint(at.Port()))
	assert.Zero(t, status, said)
	assert.Equal(t, "banner\n3 bytes\n", out)
}

func TestConnectTakesAHostAndAPort(t *testing.T) {
	for _, args := range [][]string{{"git.test"}, {"git.test", "ssh"}, {"git.test", "0"}, {"0x7f.1", "22"}, {"a b", "22"}, {"a.test", "22", "x"}} {
		status, _, said := connectBy(t, nil, "", args...)
		assert.Equal(t, statusUsage, status, "%v: %s", args, said)
	}
	assert.Equal(t, "[::1]:22", hostPort("::1", "22"))
	assert.Equal(t, "[::1]:22", hostPort("[::1]", "22"))
}
