package jupyter

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIPythonKernel(t *testing.T) {
	k := startIPython(t, testConnection(t, NewKey(), "hmac-sha256"))
	c := dialKernel(t, k.conn)
	for name, test := range map[string]func(*testing.T, *testKernel, *Client){
		"kernel info":        testInfo,
		"outputs in order":   testOrder,
		"display and result": testDisplay,
		"an exception":       testException,
		"five megabytes":     testFiveMegabytes,
		"many small outputs": testManyOutputs,
		"interrupt":          testInterrupt,
		"cancel":             testCancel,
		"two clients":        testTwoClients,
		"two at once":        testTwoAtOnce,
		"input":              testInput,
		"input not allowed":  testInputNotAllowed,
		"history":            testHistory,
	} {
		t.Run(name, func(t *testing.T) { test(t, k, c) })
	}
	assert.Zero(t, c.Dropped())
}

func testInfo(t *testing.T, _ *testKernel, c *Client) {
	info, err := c.KernelInfo(within(t, 30*time.Second))
	require.NoError(t, err)
	assert.Equal(t, "ipython", info.Implementation)
	assert.Equal(t, "python", info.Language.Name)
	assert.True(t, strings.HasPrefix(info.Protocol, "5."), info.Protocol)
	assert.Contains(t, info.Banner, "Python")
}

func testOrder(t *testing.T, _ *testKernel, c *Client) {
	const code = `
import sys
for i in range(20):
    print("out", i, flush=True)
    print("err", i, file=sys.stderr, flush=True)
`
	var got, want strings.Builder
	reply, err := c.Execute(within(t, time.Minute), code, ExecuteOptions{Output: func(m Message) {
		if s, ok := m.Stream(); ok {
			got.WriteString(s.Text)
		}
	}})
	require.NoError(t, err)
	for i := range 20 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	assert.Equal(t, want.String(), got.String())
	assert.Equal(t, "ok", reply.Status)
}

func testDisplay(t *testing.T, _ *testKernel, c *Client) {
	const code = `
from IPython.display import display, clear_output, HTML
display(HTML("<b>x</b>"))
clear_output(wait=True)
6 * 7`
	var kinds []string
	var html, result string
	reply, err := c.Execute(within(t, time.Minute), code, ExecuteOptions{StoreHistory: true, Output: func(m Message) {
		kinds = append(kinds, m.Header.Type)
		d, ok := m.Display()
		switch m.Header.Type {
		case "display_data":
			assert.True(t, ok)
			html, _ = d.Text("text/html")
		case "execute_result":
			result, _ = d.Text("text/plain")
			assert.Positive(t, d.ExecutionCount)
		case "clear_output":
			wait, ok := m.ClearOutput()
			assert.True(t, wait && ok)
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"status", "execute_input", "display_data", "clear_output", "execute_result", "status"}, kinds)
	assert.Equal(t, "<b>x</b>", html)
	assert.Equal(t, "42", result)
	assert.Positive(t, reply.ExecutionCount)
	assert.Contains(t, string(reply.Content), "payload")
}

func testException(t *testing.T, _ *testKernel, c *Client) {
	var published Exception
	reply, err := c.Execute(within(t, time.Minute), "1/0", ExecuteOptions{Output: func(m Message) {
		if e, ok := m.Exception(); ok {
			published = e
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, "error", reply.Status)
	require.NotNil(t, reply.Exception)
	assert.EqualError(t, reply.Exception, "ZeroDivisionError: division by zero")
	assert.NotEmpty(t, reply.Exception.Traceback)
	assert.Equal(t, *reply.Exception, published)
}

func testFiveMegabytes(t *testing.T, _ *testKernel, c *Client) {
	const code = `
import random, hashlib
r = random.Random(7)
text = "".join(r.choice("abcdefgh\n") for _ in range(1 << 20)) * 5
print(text, end="")
import sys
sys.stdout.flush()
print(hashlib.sha256(text.encode()).hexdigest(), file=sys.stderr)`
	out, errs, _ := run(t, c, code)
	assert.Len(t, out, 5<<20)
	assert.Equal(t, strings.TrimSpace(errs), fmt.Sprintf("%x", sha256.Sum256([]byte(out))))
}

func testManyOutputs(t *testing.T, _ *testKernel, c *Client) {
	var seen []string
	_, err := c.Execute(within(t, time.Minute), "from IPython.display import display\nfor i in range(500): display(i)", ExecuteOptions{
		Output: func(m Message) {
			if d, ok := m.Display(); ok {
				text, _ := d.Text("text/plain")
				seen = append(seen, text)
			}
		},
	})
	require.NoError(t, err)
	require.Len(t, seen, 500)
	for i, s := range seen {
		require.Equal(t, fmt.Sprint(i), s)
	}
}

// busy starts a cell that sleeps, and returns once it does.
func busy(ctx context.Context, t *testing.T, c *Client) (reply chan *ExecuteReply, errs chan error) {
	t.Helper()
	started := make(chan struct{})
	reply, errs = make(chan *ExecuteReply, 1), make(chan error, 1)
	var once sync.Once
	go func() {
		r, err := c.Execute(ctx, "import time\nprint('in', flush=True)\ntime.sleep(60)", ExecuteOptions{Output: func(m Message) {
			if _, ok := m.Stream(); ok {
				once.Do(func() { close(started) })
			}
		}})
		reply <- r
		errs <- err
	}()
	select {
	case <-started:
	case <-time.After(30 * time.Second):
		require.Fail(t, "the cell did not start")
	}
	return reply, errs
}

func testInterrupt(t *testing.T, _ *testKernel, c *Client) {
	began := time.Now()
	reply, errs := busy(within(t, time.Minute), t, c)
	require.NoError(t, c.Interrupt(within(t, 10*time.Second)))
	r := <-reply
	require.NoError(t, <-errs)
	require.NotNil(t, r.Exception)
	assert.Equal(t, "KeyboardInterrupt", r.Exception.Name)
	assert.Less(t, time.Since(began), 30*time.Second)
	requireAlive(t, c)
}

// requireAlive asks up to three times: ipykernel can lose the reply to what it is asked while an interrupt is still on its way.
func requireAlive(t *testing.T, c *Client) {
	t.Helper()
	var out strings.Builder
	var err error
	for range 3 {
		out.Reset()
		_, err = c.Execute(within(t, 20*time.Second), "print('alive')", ExecuteOptions{Output: func(m Message) {
			if s, ok := m.Stream(); ok {
				out.WriteString(s.Text)
			}
		}})
		if err == nil && out.String() == "alive\n" {
			return
		}
	}
	require.Fail(t, "the kernel does not compute any more", "%v %q", err, out.String())
}

func testCancel(t *testing.T, _ *testKernel, c *Client) {
	ctx, cancel := context.WithCancelCause(within(t, time.Minute))
	_, errs := busy(ctx, t, c)
	why := fmt.Errorf("the user has gone")
	began := time.Now()
	cancel(why)
	assert.ErrorIs(t, <-errs, why)
	assert.Less(t, time.Since(began), 5*time.Second)
	require.NoError(t, c.Interrupt(within(t, 10*time.Second)))
	requireAlive(t, c)
}

func testTwoClients(t *testing.T, k *testKernel, c *Client) {
	other := dialKernel(t, k.conn)
	var group sync.WaitGroup
	for i, client := range []*Client{c, other} {
		group.Go(func() {
			for n := range 5 {
				out, _, _ := run(t, client, fmt.Sprintf("print(%d, %d)", i, n))
				assert.Equal(t, fmt.Sprintf("%d %d\n", i, n), out)
			}
		})
	}
	group.Wait()
}

func testTwoAtOnce(t *testing.T, _ *testKernel, c *Client) {
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			out, _, _ := run(t, c, fmt.Sprintf("print(%d)", i))
			assert.Equal(t, fmt.Sprintf("%d\n", i), out)
		})
	}
	group.Wait()
}

func testInput(t *testing.T, _ *testKernel, c *Client) {
	var asked string
	var out strings.Builder
	_, err := c.Execute(within(t, time.Minute), "print(input('name? ') + '!')", ExecuteOptions{
		AllowStdin: true,
		Input: func(prompt string, password bool) (string, error) {
			asked = prompt
			assert.False(t, password)
			return "Ada", nil
		},
		Output: func(m Message) {
			if s, ok := m.Stream(); ok {
				out.WriteString(s.Text)
			}
		},
	})
	require.NoError(t, err)
	assert.Equal(t, "name? ", asked)
	assert.Equal(t, "Ada!\n", out.String())
}

func testInputNotAllowed(t *testing.T, _ *testKernel, c *Client) {
	_, _, reply := run(t, c, "input('name? ')")
	require.NotNil(t, reply.Exception)
	assert.Equal(t, "StdinNotImplementedError", reply.Exception.Name)

	_, err := c.Execute(within(t, time.Minute), "1", ExecuteOptions{AllowStdin: true})
	assert.ErrorContains(t, err, "Input is not")
}

func testHistory(t *testing.T, _ *testKernel, c *Client) {
	count := func(o ExecuteOptions) int {
		reply, err := c.Execute(within(t, time.Minute), "pass", o)
		require.NoError(t, err)
		return reply.ExecutionCount
	}
	first := count(ExecuteOptions{StoreHistory: true})
	assert.Equal(t, first+1, count(ExecuteOptions{StoreHistory: true}))
	count(ExecuteOptions{})
	count(ExecuteOptions{Silent: true, StoreHistory: true})
	assert.Equal(t, first+2, count(ExecuteOptions{StoreHistory: true}))
}

func TestSchemesAndKeys(t *testing.T) {
	for name, conn := range map[string]*Connection{
		"hmac-sha512": testConnection(t, NewKey(), "hmac-sha512"),
		"no key":      testConnection(t, "", "hmac-sha256"),
	} {
		t.Run(name, func(t *testing.T) {
			k := startIPython(t, conn)
			c := dialKernel(t, k.conn)
			out, _, _ := run(t, c, "print('ok')")
			assert.Equal(t, "ok\n", out)
		})
	}
}

func TestAKernelWithAnotherKeyDoesNotAnswer(t *testing.T) {
	k := startIPython(t, testConnection(t, NewKey(), "hmac-sha256"))
	dialKernel(t, k.conn) // it answers whoever has the key
	wrong := k.conn.Clone()
	wrong.Key = NewKey()
	c, err := Dial(within(t, 10*time.Second), wrong)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.KernelInfo(within(t, 2*time.Second))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestShutdown(t *testing.T) {
	k := startIPython(t, testConnection(t, NewKey(), "hmac-sha256"))
	c := dialKernel(t, k.conn)
	require.NoError(t, c.Shutdown(within(t, 10*time.Second), false))
	select {
	case <-k.done:
	case <-time.After(10 * time.Second):
		assert.Fail(t, "the kernel runs on")
	}
	assert.Equal(t, 0, k.cmd.ProcessState.ExitCode())
}

func TestAKernelThatDiesAndComesBack(t *testing.T) {
	k := startIPython(t, testConnection(t, NewKey(), "hmac-sha256"))
	c := dialKernel(t, k.conn)
	run(t, c, "x = 1")
	began := time.Now()
	_, err := c.Execute(within(t, time.Minute), "import os; os._exit(3)", ExecuteOptions{})
	var lost *LostError
	require.ErrorAs(t, err, &lost)
	assert.Less(t, time.Since(began), 10*time.Second)
	<-k.done

	startIPython(t, k.conn)
	_, err = c.KernelInfo(within(t, time.Minute))
	require.NoError(t, err)
	out, _, _ := run(t, c, "print('x' in globals())")
	assert.Equal(t, "False\n", out)
}

func TestCloseWhileACellRuns(t *testing.T) {
	k := startIPython(t, testConnection(t, NewKey(), "hmac-sha256"))
	c := dialKernel(t, k.conn)
	_, errs := busy(within(t, time.Minute), t, c)
	began := time.Now()
	require.NoError(t, c.Close())
	assert.ErrorIs(t, <-errs, ErrClosed)
	assert.Less(t, time.Since(began), 5*time.Second)
	require.NoError(t, c.Close())
	_, err := c.KernelInfo(within(t, time.Second))
	assert.ErrorIs(t, err, ErrClosed)
}

func TestDialBeforeTheKernelListens(t *testing.T) {
	conn := testConnection(t, NewKey(), "hmac-sha256")
	ctx := within(t, time.Minute)
	type dialled struct {
		c   *Client
		err error
	}
	done := make(chan dialled, 1)
	go func() {
		c, err := Dial(ctx, conn)
		done <- dialled{c, err}
	}()
	startIPython(t, conn)
	d := <-done
	require.NoError(t, d.err)
	defer d.c.Close()
	out, _, _ := run(t, d.c, "print('first')") // without KernelInfo: no output is lost all the same
	assert.Equal(t, "first\n", out)
}

func TestDialWhereNobodyListens(t *testing.T) {
	conn := testConnection(t, NewKey(), "hmac-sha256")
	began := time.Now()
	_, err := Dial(within(t, 300*time.Millisecond), conn)
	assert.Less(t, time.Since(began), 5*time.Second)
	var dial *DialError
	require.ErrorAs(t, err, &dial)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, conn.Endpoint(Shell))
	assert.ErrorContains(t, err, "refused")

	l, err := net.Listen("tcp", conn.Host()+":0")
	require.NoError(t, err)
	defer l.Close()
	conn.Control = l.Addr().(*net.TCPAddr).Port
	_, err = Dial(within(t, 300*time.Millisecond), conn)
	assert.ErrorContains(t, err, "control channel ("+conn.Endpoint(Control)+"): context deadline exceeded: connected, but no kernel answered")
}

func TestDialWithoutPorts(t *testing.T) {
	conn := testConnection(t, "", "hmac-sha256")
	conn.Control = 0
	_, err := Dial(within(t, time.Second), conn)
	var port *PortError
	require.ErrorAs(t, err, &port)
	assert.EqualError(t, err, "control_port is 0: the kernel has not chosen it yet")
}

func TestIRkernel(t *testing.T) {
	r, err := exec.LookPath("R")
	if err != nil {
		t.Fatal("R is not on PATH: make test installs it")
	}
	k := startKernel(t, testConnection(t, NewKey(), "hmac-sha256"), func(file string) []string {
		return []string{r, "--vanilla", "--no-echo", "-e", "IRkernel::main()", "--args", file}
	})
	c := dialKernel(t, k.conn)
	info, err := c.KernelInfo(within(t, time.Minute))
	require.NoError(t, err)
	assert.Equal(t, "R", info.Language.Name)
	out, _, reply := run(t, c, `cat("a\n"); cat("b\n")`)
	assert.Equal(t, "a\nb\n", out)
	assert.Equal(t, "ok", reply.Status)
	_, _, reply = run(t, c, `stop("no")`)
	assert.Equal(t, "error", reply.Status)

	reply2, errs := busyR(t, c)
	require.NoError(t, k.cmd.Process.Signal(os.Interrupt)) // IRkernel answers no interrupt_request
	require.NoError(t, <-errs)
	assert.NotEqual(t, "ok", (<-reply2).Status)
	require.NoError(t, c.Shutdown(within(t, 10*time.Second), false))
	<-k.done
}

func busyR(t *testing.T, c *Client) (reply chan *ExecuteReply, errs chan error) {
	t.Helper()
	started := make(chan struct{})
	reply, errs = make(chan *ExecuteReply, 1), make(chan error, 1)
	go func() {
		r, err := c.Execute(within(t, time.Minute), `cat("in\n"); flush.console(); Sys.sleep(60)`, ExecuteOptions{Output: func(m Message) {
			if s, ok := m.Stream(); ok && strings.Contains(s.Text, "in") {
				close(started)
			}
		}})
		reply <- r
		errs <- err
	}()
	select {
	case <-started:
	case <-time.After(30 * time.Second):
		require.Fail(t, "the cell did not start")
	}
	return reply, errs
}

func BenchmarkKernelInfo(b *testing.B) {
	k := startIPython(b, testConnection(b, NewKey(), "hmac-sha256"))
	c := dialKernel(b, k.conn)
	ctx := within(b, 10*time.Minute)
	for b.Loop() {
		_, err := c.KernelInfo(ctx)
		require.NoError(b, err)
	}
}

func BenchmarkDialAndKernelInfo(b *testing.B) {
	k := startIPython(b, testConnection(b, NewKey(), "hmac-sha256"))
	dialKernel(b, k.conn)
	ctx := within(b, 10*time.Minute)
	for b.Loop() {
		c, err := Dial(ctx, k.conn)
		require.NoError(b, err)
		_, err = c.KernelInfo(ctx)
		require.NoError(b, err)
		require.NoError(b, c.Close())
	}
}
