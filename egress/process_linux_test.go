package egress

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const aloneVariable = "KERNEL_LAUNCH_TEST_PROXY"

// aloneOrder is what a proxy of its own process is told.
type aloneOrder struct {
	Origin string // where every address leads, but for hangingAddr
	Bounds Bounds
}

// hangingAddr is what hanging.allowed.test leads to; connecting to it never
// ends, and neither does looking up silent.allowed.test.
var hangingAddr = netip.MustParseAddr("192.0.2.81")

func (aloneOrder) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	switch host {
	case "hanging.allowed.test.":
		return []netip.Addr{hangingAddr}, nil
	case "silent.allowed.test.":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []netip.Addr{publicAddr}, nil
}

func (o aloneOrder) dial(ctx context.Context, _, address string) (net.Conn, error) {
	if netip.MustParseAddrPort(address).Addr() == hangingAddr {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", o.Origin)
}

// serveAlone serves until its standard input ends. Without huge pages, because
// one of them would count 2 MiB for 4 KiB.
func serveAlone(text string) error {
	var o aloneOrder
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	rules := mustRules(".allowed.test")
	p := &Proxy{Rules: func() (*Rules, error) { return rules, nil }, Resolver: o, Dial: o.dial, Bounds: o.Bounds}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		p.Close()
	}()
	fmt.Println(l.Addr())
	return p.Serve(l)
}

// alone is a proxy in a process of its own: what it holds is seen apart from
// the sockets and the buffers of the test.
type alone struct {
	*world
	pid    int
	before int64 // bytes resident once it had served a little of everything
}

func newAlone(t *testing.T, origin string, b Bounds) *alone {
	t.Helper()
	order, err := json.Marshal(aloneOrder{origin, b})
	require.NoError(t, err)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), aloneVariable+"="+string(order))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	a := &alone{world: &world{t: t}, pid: cmd.Process.Pid}
	_, err = fmt.Fscanln(out, &a.addr)
	require.NoError(t, err)
	a.age()
	a.before, _ = a.resident()
	return a
}

// age lets the process allocate what makes its heap one that has been
// collected: until then it grows by whatever is asked of it.
func (a *alone) age() {
	head := "CONNECT elsewhere.test:443 HTTP/1.1\r\nCookie: " + strings.Repeat("c", 16<<10) + "\r\n\r\n"
	for range 400 {
		c := a.call(head)
		resp, _ := c.answer()
		require.Equal(a.t, 403, resp.StatusCode)
		c.Close()
	}
}

// resident gives the bytes of memory that the process has, and the most that
// it ever had.
func (a *alone) resident() (now, most int64) {
	a.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.pid))
	require.NoError(a.t, err)
	in := func(name string) int64 {
		_, rest, _ := strings.Cut(string(text), "\n"+name+":")
		kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		require.NoError(a.t, err)
		return kib << 10
	}
	return in("VmRSS"), in("VmHWM")
}

// requireGrowth says how much more than before the process ever had, and that
// it is no more than limit. The race detector multiplies memory, so there the
// figure says nothing.
func (a *alone) requireGrowth(limit int64) {
	a.t.Helper()
	now, most := a.resident()
	a.t.Logf("resident: %.1f MB before, at most %+.1f MB, now %+.1f MB", mega(a.before), mega(most-a.before), mega(now-a.before))
	if !raced {
		assert.LessOrEqual(a.t, mega(most-a.before), mega(limit), "growth in MB")
		assert.LessOrEqual(a.t, mega(most), 45.0, "MB in all")
	}
}

func mega(bytes int64) float64 { return float64(bytes) / 1e6 }
