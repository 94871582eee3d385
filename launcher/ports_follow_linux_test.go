package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/internal/witness"
)

// followed is a kernel whose user edits config.yaml meanwhile.
type followed struct {
	*Kernel
	t    *testing.T
	file string
	said witness.Output
}

func follows(t *testing.T, network, first string) *followed {
	t.Helper()
	f := &followed{t: t, file: filepath.Join(folder(t), "kernel-launch", "config.yaml")}
	require.NoError(t, os.Mkdir(filepath.Dir(f.file), 0o700))
	f.edit("%s", first)
	environ := append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Dir(filepath.Dir(f.file)))
	f.Kernel = launch(t, Spec{Environ: environ, Overrides: Overrides{Network: network}, Stderr: &f.said})
	return f
}

// edit replaces the file as an editor does.
func (f *followed) edit(format string, args ...any) {
	f.t.Helper()
	require.NoError(f.t, dirs.WriteFile(f.file, fmt.Appendf(nil, format, args...), 0o600))
}

func (f *followed) told(text string) {
	f.t.Helper()
	require.Eventually(f.t, func() bool { return strings.Contains(f.said.String(), text) }, 30*time.Second, 10*time.Millisecond, "%q was not said: %s", text, &f.said)
}

// open is what is listed, as a configuration has it.
func (f *followed) open() (list []string) {
	for _, p := range f.Ports(Forwarded) {
		list = append(list, p.As(Forwarded))
	}
	for _, p := range f.Ports(Published) {
		list = append(list, p.As(Published)+p.Problem)
	}
	return list
}

// keep is a connection that a cell holds while the configuration is edited.
const keep = `
def ended(s):
    s.settimeout(30)
    try: return s.recv(1) == b""
    except TimeoutError: return False
    except OSError: return True
def answers(s):
    s.sendall(b"word"); s.shutdown(socket.SHUT_WR)
    return s.makefile().read() == "WORD"
kept, gone = (socket.create_connection(("127.0.0.1", port)) for port in (%d, %d))
`

func TestAnEditOfTheOpeningsReachesARunningKernel(t *testing.T) {
	t.Parallel()
	kept, gone, moved, later := service(t), service(t), witness.FreePort(t), service(t)
	inside, port := witness.FreePort(t), witness.FreePort(t)
	f := follows(t, "", fmt.Sprintf("sandbox: {forward: [%d, %d, \"%d:127.0.0.1:1\"]}\n", kept, gone, moved))
	byHand := service(t)
	require.NoError(t, f.OpenPort(t.Context(), Forwarded, itoa(byHand)))
	c := dial(t, f.Kernel)
	cell(t, c, knock+fmt.Sprintf(keep, kept, gone)+serving+fmt.Sprintf("import threading\nthreading.Thread(target=serve, args=(%d,), daemon=True).start()", inside))
	ask := fmt.Sprintf("print(*map(knock, (%d, %d, %d, %d, %d)))", kept, gone, moved, later, byHand)
	before, _ := cell(t, c, ask)
	assert.Regexp(t, `^answered answered \w*Error ConnectionRefusedError answered$`, before)
	assert.Equal(t, "no answer", get(t, loopback(port)))

	f.edit("sandbox: {forward: [%d, \"%d:127.0.0.1:%d\", %d], publish: [\"%d:%d\"]}\n", kept, moved, later, later, port, inside)
	f.told(fmt.Sprintf("publish %d:%d is open now: the configuration has changed", port, inside))
	after, _ := cell(t, c, ask)
	assert.Equal(t, "answered ConnectionRefusedError answered answered answered", after)
	assert.Equal(t, "app", get(t, loopback(port)))
	out, _ := cell(t, c, "print(ended(gone), answers(kept))")
	assert.Equal(t, "True True", out, "what was taken away ends, what was not touched goes on")
	want := []string{itoa(kept), itoa(byHand), fmt.Sprintf("%d:127.0.0.1:%d", moved, later), itoa(later), fmt.Sprintf("%d:%d", port, inside)}
	assert.ElementsMatch(t, want, f.open())
	f.told(fmt.Sprintf("forward %d is closed: the configuration has changed", gone))

	require.NoError(t, f.Restart(within(t, time.Minute)))
	again, _ := cell(t, dial(t, f.Kernel), knock+ask)
	assert.Equal(t, after, again)
}

func TestAnEditThatOpensWhatCannotBeStillCloses(t *testing.T) {
	t.Parallel()
	shown, shut, next := service(t), service(t), service(t)
	taken := service(t)
	f := follows(t, "none", fmt.Sprintf("sandbox: {forward: [%d, %d]}\n", shown, shut))
	require.NoError(t, f.ClosePort(Forwarded, itoa(shut)))

	f.edit("sandbox: {forward: [80, %d, %d]}\n", next, shut)
	f.told("what the configuration opens besides cannot be: forward 80: ports below 1024")
	assert.Empty(t, f.open(), "what was closed by hand stays closed")
	f.edit("sandbox: {forward: [%d, %d], publish: [%d]}\n", next, shut, taken)
	f.told(fmt.Sprintf("publish %d: port %d of this machine cannot be had", taken, taken))
	require.Eventually(t, func() bool { return len(f.open()) == 2 }, 30*time.Second, 10*time.Millisecond)
	assert.Equal(t, []string{itoa(next), itoa(taken) + fmt.Sprintf("port %d of this machine cannot be had: bind: address already in use", taken)}, f.open())
	out, _ := cell(t, dial(t, f.Kernel), knock+fmt.Sprintf("print(*map(knock, (%d, %d, %d)))", shown, shut, next))
	assert.Equal(t, "ConnectionRefusedError ConnectionRefusedError answered", out)

	f.edit("sandbox: {forwrad: [1]}\n")
	f.told("the configuration has changed and cannot be used")
	assert.Len(t, f.open(), 2)
}

func TestACeilingThatComesLaterCloses(t *testing.T) {
	t.Parallel()
	allowed, other := service(t), service(t)
	var said witness.Output
	s := ordinary(t, Spec{Overrides: Overrides{Network: "none", Forward: []string{itoa(allowed), itoa(other)}}, Stderr: &said, Command: []string{"/bin/sleep", "300"}})
	p, err := s.Plan()
	require.NoError(t, err)
	p.host.dirs.Machine = folder(t)
	p.stamps = stampsOf(configFiles(p.host.dirs))
	k, err := Start(within(t, time.Minute), p)
	require.NoError(t, err)
	t.Cleanup(func() { k.Kill() })
	require.Len(t, k.Ports(Forwarded), 2)

	policy := filepath.Join(p.host.dirs.Machine, "policy.yaml")
	require.NoError(t, dirs.WriteFile(policy, fmt.Appendf(nil, "sandbox: {forward: [%d]}\n", allowed), 0o644))
	require.Eventually(t, func() bool { return len(k.Ports(Forwarded)) == 1 }, 30*time.Second, 10*time.Millisecond)
	assert.Equal(t, uint16(allowed), k.Ports(Forwarded)[0].Port)
	clip := fmt.Sprintf("sandbox.forward: %d was asked for (--forward); %s:1 allows", other, policy)
	assert.Contains(t, said.String(), clip)

	require.NoError(t, dirs.WriteFile(policy, fmt.Appendf(nil, "sandbox: {forward: [%d]} # again\n", allowed), 0o644))
	_, lifetime, _ := k.ports.here.attached(nil)
	k.follow(lifetime, func() bool { return true })
	assert.Equal(t, 1, strings.Count(said.String(), clip), "told once")
}
