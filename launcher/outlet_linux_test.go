package launcher

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const getOther = `
import urllib.request, urllib.error
try: urllib.request.urlopen("http://other.test/")
except urllib.error.HTTPError as e: print(e.code)
`

// TestWhatAKernelIsRefusedCanBeAskedForAndIsLogged, across a restart: both tell of the kernel, not of one of its lives.
func TestWhatAKernelIsRefusedCanBeAskedForAndIsLogged(t *testing.T) {
	_, runtime := runtimeDir(t)
	state := folder(t)
	k := launch(t, Spec{Environ: append(os.Environ(), runtime, "XDG_STATE_HOME="+state)})
	c := dial(t, k)
	out, fault := cell(t, c, getOther)
	require.Nil(t, fault)
	require.Equal(t, "403", out)
	require.NoError(t, k.Restart(within(t, 90e9)))
	c = dial(t, k)
	out, fault = cell(t, c, getOther)
	require.Nil(t, fault)
	require.Equal(t, "403", out)

	all, err := Kernels(k.Plan().host.dirs)
	require.NoError(t, err)
	require.Len(t, all, 1)
	reply, err := all[0].Ask(t.Context(), OpStatus)
	require.NoError(t, err)
	require.Len(t, reply.Denied, 1)
	d := reply.Denied[0]
	assert.Equal(t, []any{"other.test", uint16(80), "not-listed", 2, "kernel-launch egress allow other.test --folder " + k.Plan().Folder}, []any{d.Host, d.Port, d.Code, d.Count, d.Allow})
	assert.True(t, d.First.Before(d.Last))

	k.Kill()
	text, err := os.ReadFile(EgressLog(k.Plan().host.dirs))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(state, "kernel-launch/log/egress.jsonl"), EgressLog(k.Plan().host.dirs))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 2)
	for _, line := range lines {
		var e struct{ Kernel, Environment, Host string }
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		assert.Equal(t, []string{k.ID(), "default", "other.test"}, []string{e.Kernel, e.Environment, e.Host})
	}
}

// TestALogTellsOfTheLastMomentAsWell: what the end of the kernel breaks off is written before the kernel counts as ended.
func TestALogTellsOfTheLastMomentAsWell(t *testing.T) {
	state := folder(t)
	s := Spec{Environ: append(os.Environ(), "XDG_STATE_HOME="+state)}
	_, exit := python(t, s, `
import socket
for _ in range(20): # more than are written one by one
    c = socket.create_connection(("127.0.0.1", 3128))
    c.sendall(b"CONNECT other.test:443 HTTP/1.1\r\n\r\n")
    while c.recv(4096): pass
`)
	require.Zero(t, exit.Code)
	text, err := os.ReadFile(filepath.Join(state, "kernel-launch/log/egress.jsonl"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 4)
	assert.Contains(t, lines[3], `"repeated":17`)
}
