package launcher

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// hostile is a process 1 that is not ours: what can be said on the control socket, a kernel that has taken it over can say.
const hostile = `#!/usr/bin/python3 -IS
import array, socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=3)
def say(text, *fds):
    s.sendmsg([text.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', fds))] if fds else [])
def hello(): say('{"kind":"hello","version":2}')
def hear(): return s.recv(1 << 16)
def kept():
    l = socket.create_server(('127.0.0.1', 3128))
    hello(); hear(); say('{"kind":"listening","id":1}', l.fileno())
    hear()
    return l
`

// helper makes a program that stands in for the inside.
func helper(t *testing.T, code string) string {
	t.Helper()
	path := folder(t) + "/helper"
	require.NoError(t, os.WriteFile(path, []byte(hostile+code+"\ntime.sleep(60)\n"), 0o755))
	return path
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

func TestAnInsideThatBreaksTheProtocolIsNotBelieved(t *testing.T) {
	require.NoError(t, MakeDefault())
	for name, c := range map[string]struct{ code, problem string }{
		"noise":                          {`s.send(b'noise')`, "is not JSON"},
		"a message that is too long":     {`s.send(b'{"kind":"hello","version":2,"text":"' + b'x' * 20000 + b'"}')`, "longer than"},
		"an unknown message":             {`hello(); say('{"kind":"open","text":"/etc/shadow"}')`, `unknown message "open"`},
		"another version":                {`say('{"kind":"hello","version":99}')`, "version 99"},
		"started before hello":           {`say('{"kind":"started"}')`, "before hello"},
		"hello twice":                    {`hello(); hello()`, "hello came twice"},
		"an end without a beginning":     {`hello(); say('{"kind":"exited"}')`, "exited came without started"},
		"a socket that nobody asked for": {`hello(); say('{"kind":"dialed","id":7}', 0)`, "question that was not asked"},
		"a file with hello":              {`say('{"kind":"hello","version":2}', 0)`, "1 descriptors came with"},
		"many files":                     {`say('{"kind":"hello","version":2}', *[0] * 50)`, "descriptors"},
		"a file for a socket":            {`hello(); hear(); say('{"kind":"listening","id":1}', 0)`, "no socket"},
		"a socket of another kind":       {`hello(); hear(); say('{"kind":"listening","id":1}', 3)`, "address family"},
		"a listener on another port":     {`l = socket.create_server(('127.0.0.1', 4000)); hello(); hear(); say('{"kind":"listening","id":1}', l.fileno())`, "port 4000"},
		"started twice":                  {`l = kept(); say('{"kind":"started"}'); say('{"kind":"started"}')`, "started came twice"},
	} {
		t.Run(name, func(t *testing.T) {
			before := descriptors(t)
			k, err := try(t, Spec{Helper: helper(t, c.code)})
			if err == nil { // it ran for a moment
				exit := k.Wait()
				require.Equal(t, ReasonBroken, exit.Reason, "%v", exit)
				assert.Equal(t, 137, exit.Code)
				err = exit.Err
			}
			var broken *link.ProtocolError
			require.ErrorAs(t, err, &broken)
			assert.Contains(t, err.Error(), c.problem)
			requireNothingOfLaunch(t, before)
		})
	}
}

// requireNothingOfLaunch says that a launch that failed has taken everything back.
func requireNothingOfLaunch(t *testing.T, before int) {
	t.Helper()
	requireGone(t, tree(t, os.Getpid())[1:])
	h, err := Spec{}.host()
	require.NoError(t, err)
	all, err := Kernels(h.dirs)
	require.NoError(t, err)
	assert.Empty(t, all)
	require.Eventually(t, func() bool { return descriptors(t) <= before }, time.Minute, 5*time.Millisecond, "descriptors leak")
}

func TestAnInsideThatSaysNothing(t *testing.T) {
	require.NoError(t, MakeDefault())
	t.Run("and ends", func(t *testing.T) {
		before := descriptors(t)
		_, err := try(t, Spec{Helper: helper(t, "import sys; sys.exit('no idea')")})
		require.ErrorContains(t, err, "the sandbox ended before anything ran inside it; it wrote: no idea")
		requireNothingOfLaunch(t, before)
	})
	t.Run("and stays", func(t *testing.T) {
		before := descriptors(t)
		late := errors.New("the client has gone")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, late)
		defer cancel()
		_, err := Launch(ctx, Spec{Environment: "default", Folder: folder(t), Helper: helper(t, "")})
		require.ErrorIs(t, err, late)
		requireNothingOfLaunch(t, before)
	})
	t.Run("after hello", func(t *testing.T) {
		before := descriptors(t)
		_, err := try(t, Spec{Helper: helper(t, "hello(); hear(); s.close(); raise SystemExit")})
		require.ErrorIs(t, err, link.ErrClosed)
		requireNothingOfLaunch(t, before)
	})
}

func TestAnInsideThatIsSilentDoesNotHoldStop(t *testing.T) {
	k := launch(t, Spec{Helper: helper(t, `l = kept(); say('{"kind":"started"}')`)})
	begin := time.Now()
	assert.Equal(t, ReasonStopped, k.Kill().Reason)
	assert.Less(t, time.Since(begin), 2*time.Second)
}
