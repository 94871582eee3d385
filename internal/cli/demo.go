package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/launcher"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "show on this machine what a confined kernel can do and what it cannot",
		Long: "Starts a real confined kernel and tries things from inside it, each beside a control that shows that the same thing works outside.\n" +
			"It makes an environment named \"demo\", and needs a network only once, when the interpreter has no ipykernel.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return a.demo(ctx)
		},
	}
}

// demoEnvironment is kept between runs, so that the second one needs no network.
const demoEnvironment = "demo"

// demo is one run of it.
type demo struct {
	app    *app
	client *jupyter.Client
	steps  []demoStep
}

// demoStep is one thing that was tried, inside and outside.
type demoStep struct {
	Title   string `json:"title"`
	Outside string `json:"outside,omitempty"` // the control
	Inside  string `json:"inside"`
	OK      bool   `json:"ok"`
}

const (
	demoAnswer  = "hello from the host"
	demoAllowed = "allowed.example"
	demoRefused = "refused.example"
)

func (a *app) demo(ctx context.Context) error {
	installer, err := a.demoPrepare(ctx)
	if err != nil {
		return err
	}
	defer installer.server.Close()
	site, err := plant()
	if err != nil {
		return err
	}
	defer site.clear()
	spec, err := site.spec()
	if err != nil {
		return err
	}
	begin := time.Now()
	k, err := launcher.Launch(ctx, spec)
	if err != nil {
		return err
	}
	defer k.Kill()
	client, err := jupyter.Dial(ctx, k.Connection())
	if err != nil {
		return ended(k, err)
	}
	defer client.Close()
	if _, err := client.KernelInfo(ctx); err != nil {
		return ended(k, err)
	}
	ready := time.Since(begin)
	d := &demo{app: a, client: client}
	a.say("A confined %s kernel answered %d ms after its start.\n", k.Plan().Environment.Language, ready.Milliseconds())
	d.walk(ctx, site)
	d.stories(ctx, installer, k)
	return a.demoReport(d, k, ready)
}

// say is for people only.
func (a *app) say(format string, args ...any) {
	if !a.json {
		fmt.Fprintf(a.out, format, args...)
	}
}

// demoPrepare makes the environment when it is not there, and puts it into the state that every run begins with.
func (a *app) demoPrepare(ctx context.Context) (*demoInstaller, error) {
	store, err := a.store("")
	if err != nil {
		return nil, err
	}
	e, err := store.Get(demoEnvironment)
	if err == nil {
		err = e.Check()
	}
	if as(err, new(*envs.BrokenError)) {
		err = errors.Join(store.Remove(ctx, demoEnvironment), &envs.NotFoundError{Name: demoEnvironment})
	}
	if as(err, new(*envs.NotFoundError)) {
		a.say("Making the environment %q; ipykernel is brought in if the interpreter has none.\n", demoEnvironment)
		_, err = store.Create(ctx, envs.CreateOptions{Name: demoEnvironment, Language: envs.Python})
	}
	if err == nil {
		err = store.BringUV(ctx)
	}
	if err != nil {
		return nil, err
	}
	installer, err := a.demoInstaller()
	if err != nil {
		return nil, err
	}
	if err := installer.clean(ctx); err != nil {
		installer.server.Close()
		return nil, err
	}
	if _, _, err := installer.change(ctx, envs.Request{Add: []string{"demo-core==1.0"}}); err != nil {
		installer.server.Close()
		return nil, err
	}
	return installer, nil
}

// walk tries everything. Inside is Python in the kernel; outside is this process.
func (d *demo) walk(ctx context.Context, s *demoSite) {
	d.step(ctx, "a result is computed", "", "print(6 * 7)", "42", "")
	d.step(ctx, "a file in the notebook's folder is written",
		"", "open('made-inside.txt', 'w').write('x'); print('written')", "written", "")
	d.step(ctx, "a file outside the notebook's folder is not there",
		outcome(func() (string, error) { b, err := os.ReadFile(s.secret); return string(b), err }),
		attempt(fmt.Sprintf("open(%q).read()", s.secret)), "FileNotFoundError", "a token")
	d.step(ctx, "a connection to the host's own loopback leads nowhere",
		outcome(func() (string, error) { return fetch(s.address, s.address) }),
		attempt(fmt.Sprintf("__import__('socket').create_connection(%s, 5)", pythonAddress(s.address))), "ConnectionRefusedError", demoAnswer)
	for _, h := range []struct{ title, host, want string }{
		{"an allowed host answers, through the proxy", demoAllowed, demoAnswer},
		{"another host is refused, with the reason", demoRefused, "403: " + demoRefused},
	} {
		d.step(ctx, h.title, outcome(func() (string, error) { return fetch(s.address, h.host) }), attempt(pythonFetch(h.host)), h.want, demoAnswer)
	}
}

func outcome(f func() (string, error)) string {
	s, err := f()
	if err != nil {
		return err.Error()
	}
	return s
}

// fetch asks the planted server directly, under the name of host: it would answer for any.
func fetch(address, host string) (string, error) {
	q, err := http.NewRequest(http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return "", err
	}
	q.Host = host
	c := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{}} // no proxy of the environment: this is the direct way
	r, err := c.Do(q)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	return string(b), err
}

// attempt prints what an expression gives, or how it fails.
func attempt(expression string) string {
	return "try:\n    print(" + expression + ")\nexcept Exception as e:\n    print(type(e).__name__ + ': ' + str(e))"
}

func pythonFetch(host string) string {
	return fmt.Sprintf("__import__('urllib.request').request.urlopen('http://%s/', timeout=10).read().decode()", host)
}

func pythonAddress(hostport string) string {
	host, port, _ := net.SplitHostPort(hostport)
	return fmt.Sprintf("(%q, %s)", host, port)
}

// step runs code inside and compares: inside must contain want, and the control, when there is one with a wanted text, must contain it.
func (d *demo) step(ctx context.Context, title, outside, code, want, control string) {
	var got strings.Builder
	reply, err := d.client.Execute(ctx, code, jupyter.ExecuteOptions{Output: func(m jupyter.Message) {
		if s, ok := m.Stream(); ok {
			got.WriteString(s.Text)
		}
	}})
	inside := strings.TrimSpace(got.String())
	if err != nil {
		inside = err.Error()
	} else if reply.Exception != nil {
		inside = reply.Exception.Error()
	}
	s := demoStep{Title: title, Outside: plain.Line(outside, 200), Inside: plain.Line(inside, 300)}
	s.OK = strings.Contains(inside, want) && strings.Contains(outside, control)
	d.steps = append(d.steps, s)
	mark := "ok"
	if !s.OK {
		mark = "FAILED"
	}
	d.app.say("\n%-6s %s\n", mark, title)
	if outside != "" {
		d.app.say("       outside: %s\n", s.Outside)
	}
	d.app.say("       inside:  %s\n", s.Inside)
}

func (a *app) demoReport(d *demo, k *launcher.Kernel, ready time.Duration) error {
	failed := 0
	for _, s := range d.steps {
		if !s.OK {
			failed++
		}
	}
	missing := k.Plan().Sandbox.Missing
	const next = "kernel-launch env create default && kernel-launch kernelspec install --env default"
	if a.json {
		out := map[string]any{"ready_ms": ready.Milliseconds(), "steps": d.steps, "missing": some(missing), "next": next}
		if failed > 0 {
			out["error"] = explained{Code: "demo", Message: fmt.Sprintf("%d of %d steps failed", failed, len(d.steps)), Remedy: "kernel-launch doctor"}
		}
		a.object(out)
	}
	if len(missing) > 0 {
		a.say("\nNot enforced on this machine by this version:\n")
		for _, g := range missing {
			a.say("  - %s\n", g)
		}
	}
	if failed > 0 {
		a.say("\n%d of %d steps failed.\ntry: kernel-launch doctor\n", failed, len(d.steps))
		return &quietError{statusFailed}
	}
	a.say("\nAll %d steps went as they should.\nnext: %s\n", len(d.steps), next)
	return nil
}
