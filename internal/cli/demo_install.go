package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/restart"
)

// demoInstaller installs into the demo's environment from an index on loopback.
type demoInstaller struct {
	launcher.Installer
	server *http.Server
}

func (a *app) demoInstaller() (*demoInstaller, error) {
	index, err := newDemoIndex()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &demoInstaller{server: &http.Server{Handler: index, ReadHeaderTimeout: 10 * time.Second}}
	go d.server.Serve(l)
	cfg := launcher.DefaultConfig()
	cfg.Install.Index = config.IndexURL("http://" + l.Addr().String() + "/simple")
	d.When = cfg.Restart.When
	if d.Dirs, err = launcher.Dirs(a.getenv); err == nil {
		d.Store, err = a.storeFor(cfg)
	}
	if err != nil {
		d.server.Close()
		return nil, err
	}
	return d, nil
}

// change plans and applies: who runs the demo has approved it.
func (d *demoInstaller) change(ctx context.Context, r envs.Request) (*envs.Plan, *launcher.Installed, error) {
	p, err := d.Store.Prepare(ctx, demoEnvironment, r)
	if err != nil || p.Unchanged {
		return p, &launcher.Installed{}, err
	}
	done, err := d.Apply(ctx, p)
	return p, done, err
}

// clean takes the demo's packages out again, so that every run begins alike.
func (d *demoInstaller) clean(ctx context.Context) error {
	e, err := d.Store.Get(demoEnvironment)
	if err != nil {
		return err
	}
	var there []string
	for _, o := range e.Owned {
		if strings.HasPrefix(o.Name, "demo-") {
			there = append(there, o.Name)
		}
	}
	if len(there) == 0 {
		return nil
	}
	_, _, err = d.change(ctx, envs.Request{Remove: there})
	return err
}

// stories are the two installs of the demo: one that a running kernel sees at once, and one that it must restart for.
func (d *demo) stories(ctx context.Context, in *demoInstaller, k *launcher.Kernel) {
	d.step(ctx, "a kernel has a variable and has loaded demo-core 1.0", "", "import demo_core; token = 'kept'; print(token, demo_core.version)", "kept 1.0", "")
	d.story(ctx, in, k, story{
		title: "an install that only adds keeps the kernel and its variables", request: "demo-leaf", verdict: restart.Keep,
		code: "import demo_leaf; print(token, demo_leaf.version)", want: "kept 1.0",
	})
	d.story(ctx, in, k, story{
		title: "an install that moves what is loaded restarts the kernel, and says so before", request: "demo-core==2.0", verdict: restart.Required,
		code: "import demo_core; print('token' in globals(), demo_core.version)", want: "False 2.0",
	})
}

type story struct {
	title, request string
	verdict        restart.Verdict
	code, want     string
}

func (d *demo) story(ctx context.Context, in *demoInstaller, k *launcher.Kernel, s story) {
	p, err := in.Store.Prepare(ctx, demoEnvironment, envs.Request{Add: []string{s.request}})
	var preview []launcher.KernelVerdict
	if err == nil {
		preview, err = in.Preview(p)
	}
	said := verdictOf(preview, k.ID())
	var done *launcher.Installed
	if err == nil {
		done, err = in.Apply(ctx, p)
	}
	if err != nil {
		d.fail(s.title, err)
		return
	}
	after := verdictOf(done.Kernels, k.ID())
	d.app.say("\n       plan for %s: %s\n       verdict before: %s; after: %s, %s (%s)\n",
		s.request, strings.Join(changeSentences(reported(p.Changes)), ", "), said.Verdict, after.Verdict, after.Action, strings.Join(after.Reasons, "; "))
	if said.Verdict != s.verdict || after.Verdict != s.verdict {
		d.fail(s.title, fmt.Errorf("the verdict was %q before and %q after, not %q", said.Verdict, after.Verdict, s.verdict))
		return
	}
	d.step(ctx, s.title, "", s.code, s.want, "")
}

func verdictOf(list []launcher.KernelVerdict, id string) launcher.KernelVerdict {
	for _, v := range list {
		if v.ID == id {
			return v
		}
	}
	return launcher.KernelVerdict{}
}

func (d *demo) fail(title string, err error) {
	d.steps = append(d.steps, demoStep{Title: title, Inside: err.Error()})
	d.app.say("\nFAILED %s\n       %v\n", title, err)
}
