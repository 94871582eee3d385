package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/launcher"
)

// change is one invocation of install or uninstall.
type change struct {
	app     *app
	cmd     *cobra.Command
	env     string
	request envs.Request
	id      string // of a plan made before
	dry     bool
	yes     bool

	installer launcher.Installer
}

func (a *app) installCommand() *cobra.Command {
	x := &change{app: a}
	var files []string
	c := &cobra.Command{
		Use: "install [flags] PACKAGE... | --plan ID", Short: "bring packages into an environment, planned and approved",
		Long: "Plans first: what would come, what would move, and which running kernels would have to restart. Nothing changes before it is approved, at a terminal or by --yes.\n\n" +
			"PACKAGE is a name with optional extras and versions, as in 'pandas>=2' or 'requests[socks]'.",
		RunE: func(cmd *cobra.Command, args []string) error {
			x.cmd = cmd
			for _, f := range files {
				list, err := requirementsFile(f)
				if err != nil {
					return err
				}
				args = append(args, list...)
			}
			x.request.Add = args
			if (len(args) == 0) == (x.id == "") {
				return usage(cmd, "name packages, or a plan with --plan ID")
			}
			return x.run()
		},
	}
	x.bind(c)
	f := c.Flags()
	f.StringVar(&x.id, "plan", "", "do exactly what the plan `ID` says")
	f.BoolVar(&x.request.Newest, "newest", false, "prefer the newest versions, also when kernels must restart")
	f.BoolVar(&x.request.AllowSource, "allow-source", false, "allow packages that are built here, in the sandbox")
	f.StringArrayVarP(&files, "requirement", "r", nil, "read packages from `FILE`")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	x := &change{app: a}
	c := &cobra.Command{
		Use: "uninstall [flags] PACKAGE...", Short: "take packages out of an environment",
		RunE: func(cmd *cobra.Command, args []string) error {
			x.cmd = cmd
			if len(args) == 0 {
				return usage(cmd, "PACKAGE is missing")
			}
			x.request.Remove = args
			return x.run()
		},
	}
	x.bind(c)
	return c
}

func (x *change) bind(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&x.env, "env", "", "managed environment `NAME`; the folder's in config.yaml, else \"default\"")
	f.BoolVar(&x.dry, "dry-run", false, "make the plan, change nothing")
	f.BoolVar(&x.yes, "yes", false, "approve without being asked")
}

// requirementsFile reads one requirement a line. Options belong to pip: here they would name sources that nobody approved.
func requirementsFile(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		text := lines.Text()
		if i := strings.Index(text, " #"); i >= 0 {
			text = text[:i]
		}
		if text = strings.TrimSpace(text); text != "" && text[0] != '#' {
			list = append(list, text)
		}
	}
	return list, lines.Err()
}

// run plans, shows, asks, applies. What it reports is the same object whether it succeeds or not.
func (x *change) run() error {
	ctx, stop := signal.NotifyContext(x.cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	r := &report{Status: "failed", Environment: x.env, Changes: []reportedChange{}, Kernels: []launcher.KernelVerdict{}, Hooks: []string{}}
	err := x.do(ctx, r)
	if err == nil {
		return x.app.print(r, func(w io.Writer) { lines(w, r.sentences()) })
	}
	if !x.app.json {
		return err
	}
	e := explain(err)
	r.Error = &e
	switch e.status {
	case statusRefused:
		r.Status = "refused"
	case statusBusy:
		r.Status = "busy"
	}
	x.app.object(r)
	return err
}

func (x *change) do(ctx context.Context, r *report) error {
	if err := envs.CheckRequirements(append(append([]string{}, x.request.Add...), x.request.Remove...)); err != nil {
		return err // before anything is read that may be wrong as well
	}
	if err := x.open(r); err != nil {
		return err
	}
	p, err := x.plan(ctx)
	if err != nil {
		return err
	}
	if err := x.show(r, p); err != nil || p.Unchanged {
		return err
	}
	if x.dry {
		r.Status = "planned"
		return nil
	}
	if !x.yes {
		if !x.app.json {
			lines(x.app.err, r.sentences())
		}
		if err := x.app.ask("Do this?", "kernel-launch install --plan "+p.ID+" --yes"); err != nil {
			return err
		}
	}
	return x.apply(ctx, r, p)
}

func (x *change) open(r *report) error {
	cfg, err := x.app.config("")
	if err != nil {
		return err
	}
	x.app.sayClips(cfg, "install.")
	if x.env == "" {
		x.env = environmentOf(cfg)
		r.Environment = x.env
	}
	x.installer.When = cfg.Restart.When
	x.request.Newest = x.request.Newest || cfg.Install.Prefer == "newest"
	x.request.AllowSource = x.request.AllowSource || cfg.Install.Source
	if x.installer.Dirs, err = launcher.Dirs(x.app.getenv); err != nil {
		return err
	}
	if x.installer.Store, err = x.app.store(""); err != nil {
		return err
	}
	return x.allowed(cfg)
}

// allowed refuses what no approval can allow.
func (x *change) allowed(cfg *launcher.Config) error {
	if cfg.Install.Approve == "never" && !x.dry {
		file := "config.yaml"
		if from := cfg.Origins("install.approve"); len(from) > 0 {
			file = from[0].File
		}
		return &refusedError{"installs are switched off: install.approve is never", "ask whoever wrote " + file}
	}
	e, err := x.installer.Store.Get(x.env)
	if err == nil && e.Language != envs.Python {
		return &refusedError{"installs into an R environment are not in this version", "install it into that R, which the environment sees: " + e.Interpreter.Path}
	}
	if x.id != "" {
		return nil // the plan names its environment
	}
	return err
}

// plan makes one, or reads the one that was named.
func (x *change) plan(ctx context.Context) (*envs.Plan, error) {
	if x.id != "" {
		p, err := x.installer.Store.LoadPlan(launcher.PlansDir(x.installer.Dirs), x.id)
		if err == nil {
			x.env = p.Environment
		}
		return p, err
	}
	p, err := x.installer.Store.Prepare(ctx, x.env, x.request)
	if err != nil || p.Unchanged {
		return p, err
	}
	return p, x.installer.Store.SavePlan(launcher.PlansDir(x.installer.Dirs), p)
}

func (x *change) show(r *report, p *envs.Plan) error {
	r.Environment, r.Additive, r.Changes = p.Environment, p.Additive, reported(p.Changes)
	if p.Unchanged {
		r.Status, r.Additive = "unchanged", true
		return nil
	}
	r.Plan = &reportedPlan{p.ID, p.Digest, p.Expires.UTC().Format("2006-01-02T15:04:05Z")}
	var err error
	if r.Kernels, err = x.installer.Preview(p); err != nil || p.Alternative == nil {
		return err
	}
	kernels, err := x.installer.Preview(p.Alternative)
	r.Alternative = &reportedAlternative{p.Alternative.Additive, reported(p.Alternative.Changes), kernels}
	return err
}

// apply carries the plan out. What was approved by --yes is the request: when the ground has moved meanwhile it is planned once more, and what turns out to
// disturb running kernels goes into a generation. What was approved by its id, or at a terminal, is that plan and no other.
func (x *change) apply(ctx context.Context, r *report, p *envs.Plan) error {
	done, err := x.installer.Apply(ctx, p)
	var changed *envs.ChangedError
	for range 2 {
		if !x.yes || x.id != "" || !as(err, &changed) {
			break
		}
		if changed.Worse() {
			p = p.Apart()
		} else if p, err = x.plan(ctx); err != nil {
			return err
		} else if err := x.show(r, p); err != nil || p.Unchanged {
			return err
		}
		done, err = x.installer.Apply(ctx, p)
	}
	if err != nil {
		return err
	}
	r.Status, r.Additive, r.Changes, r.Kernels = "installed", done.Additive, reported(done.Changes), done.Kernels
	for _, h := range done.Hooks {
		r.Hooks = append(r.Hooks, h.Name)
	}
	x.compileLater(p.Environment)
	return nil
}

// compileLater leaves bytecode to a process of its own: what was installed can be imported already, only slower the first time.
func (x *change) compileLater(environment string) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	c := exec.Command(self, "env", "bytecode", environment)
	c.Dir = "/"
	detach(c)
	if c.Start() == nil {
		c.Process.Release()
	}
}

// envBytecode is what compileLater starts. It is no secret, and of no use to people: an environment works without it.
func (a *app) envBytecode() *cobra.Command {
	return &cobra.Command{
		Use: "bytecode NAME", Short: "compile what an environment brought in", Args: arguments("NAME"), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.store("")
			if err != nil {
				return err
			}
			e, err := store.Get(args[0])
			if err != nil {
				return err
			}
			return store.CompileBytecode(cmd.Context(), e.Name, e.Generation)
		},
	}
}
