package launcher

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/envs"
)

func tools(t *testing.T) toolbox {
	t.Helper()
	h, err := Spec{}.host()
	require.NoError(t, err)
	return toolbox{dirs: h.dirs, helper: h.helper}
}

func TestAToolSeesTheIndexAndItsFoldersAlone(t *testing.T) {
	stage, secret := folder(t), os.Getenv("HOME")+"/token"
	require.NoError(t, os.WriteFile(secret, []byte("x"), 0o644))
	var out strings.Builder
	err := tools(t).run(t.Context(), envs.Tool{
		Argv: []string{systemPython, "-ISc", fmt.Sprintf(
			"import os, socket, urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:%d/simple/').read().decode(), os.path.exists(%q), dict(os.environ))\nopen('/stage/made', 'w').write('x')\nassert [n for _, n in socket.if_nameindex()] == ['lo']",
			indexPort, secret,
		)},
		Env: []string{"A=b"}, Writable: []envs.Bind{{Source: stage, Target: "/stage"}}, Stdout: &out,
		Index: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "index ", r.URL.Path) }),
	})
	require.NoError(t, err, out.String())
	assert.Contains(t, out.String(), "index /simple/ False {'A': 'b'")
	assert.FileExists(t, stage+"/made")
}

func TestAToolThatFailsSaysHowAndItsEndIsKept(t *testing.T) {
	err := tools(t).run(t.Context(), envs.Tool{Argv: []string{systemPython, "-ISc", "import sys; sys.stderr.write('x' * 10000 + chr(10)); sys.exit('no \\x1b[31mwheel')"}})
	var failed *envs.ToolError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 1, failed.Status)
	assert.Contains(t, failed.Tail, `no \x1b[31mwheel`)
	assert.Less(t, len(failed.Tail), 17<<10)
	err = tools(t).run(t.Context(), envs.Tool{Argv: []string{"/usr/bin/no-such-tool"}})
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 127, failed.Status)
}

func TestAToolEndsWithItsContext(t *testing.T) {
	late := errors.New("somebody gave up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, late)
	defer cancel()
	err := tools(t).run(ctx, envs.Tool{Argv: []string{"/usr/bin/sleep", "60"}})
	require.ErrorIs(t, err, late)
	requireGone(t, tree(t, os.Getpid())[1:])
}
