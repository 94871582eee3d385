package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// finding is one thing that doctor looked at.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // ok, remark or problem
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "can a confined kernel start here, and what stands in its way?",
		Long: "Looks at the sandbox, the configuration, the environments and the kernelspecs, and starts one real kernel.\n\nExit status: 0 when a confined kernel can start, whatever else is remarked; else 1.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := a.examine(cmd.Context())
			failed := false
			for _, f := range found {
				failed = failed || f.State == "problem"
			}
			out := items(found)
			if failed {
				first := problem(found)
				out["error"] = explained{Code: "doctor", Message: first.Check + ": " + first.Text, Remedy: first.Remedy}
			}
			if err := a.print(out, func(w io.Writer) { findings(w, found) }); err != nil {
				return err
			}
			if failed {
				return &quietError{statusFailed}
			}
			return nil
		},
	}
}

func problem(found []finding) finding {
	for _, f := range found {
		if f.State == "problem" {
			return f
		}
	}
	return finding{}
}

func findings(w io.Writer, found []finding) {
	for _, f := range found {
		fmt.Fprintf(w, "%-8s %s: %s\n", f.State, f.Check, plain.Text(f.Text, 4<<10))
		if f.Remedy != "" {
			fmt.Fprintf(w, "         try: %s\n", f.Remedy)
		}
	}
}

// fault is a finding made of an error.
func fault(check string, err error) finding {
	x := explain(err)
	return finding{check, "problem", x.Message, x.Remedy}
}

func (a *app) examine(ctx context.Context) []finding {
	var found []finding
	backend := sandbox.Default()
	walls := finding{Check: "sandbox", State: "ok", Text: backend.Name() + " runs here"}
	probe, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := backend.Probe(probe); err != nil {
		walls = fault("sandbox", err)
	}
	found = append(found, walls)
	settings, cfg, d := a.examineConfig()
	found = append(append(found, settings), clipped(cfg)...)
	if cfg == nil || walls.State != "ok" {
		return append(found, a.examineSpecs()...)
	}
	found = append(found, examineWalls(ctx, cfg, d)...)
	found = append(found, a.examineEnvironments(ctx)...)
	return append(found, a.examineSpecs()...)
}

// examineConfig reads the policy as it holds outside of any folder.
func (a *app) examineConfig() (finding, *launcher.Config, dirs.Dirs) {
	d, err := launcher.Dirs(a.getenv)
	if err != nil {
		return fault("configuration", err), nil, d
	}
	cfg, err := launcher.LoadConfig(d, d.Home, "")
	if err != nil {
		return fault("configuration", err), nil, d
	}
	path := filepath.Join(d.Config, "config.yaml")
	text := path + " is in order"
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		text = "there is no " + path + "; the built-in policy holds"
	}
	return finding{Check: "configuration", State: "ok", Text: text}, cfg, d
}

// examineEnvironments starts a kernel in the first environment that is whole: nothing less shows that one can start.
func (a *app) examineEnvironments(ctx context.Context) []finding {
	store, err := a.store("")
	if err != nil {
		return []finding{fault("environments", err)}
	}
	all, faults := store.List()
	var found []finding
	for _, f := range faults {
		found = append(found, remark("environments", f))
	}
	var whole *envs.Environment
	for _, e := range all {
		if err := e.Check(); err != nil {
			found = append(found, remark("environment "+e.Name, err))
		} else if whole == nil || e.Name == "default" {
			whole = e
		}
	}
	if whole == nil {
		return append(found, finding{"environments", "problem", "there is none that a kernel could start in", "kernel-launch env create default"})
	}
	begin := time.Now()
	if err := a.tryKernel(ctx, whole.Name); err != nil {
		return append(found, fault("kernel in "+whole.Name, err))
	}
	return append(found, finding{Check: "kernel", State: "ok", Text: fmt.Sprintf("a confined kernel in environment %s answered after %d ms", whole.Name, time.Since(begin).Milliseconds())})
}

// remark is a finding that keeps no kernel from starting elsewhere.
func remark(check string, err error) finding {
	f := fault(check, err)
	f.State = "remark"
	return f
}

func (a *app) tryKernel(ctx context.Context, environment string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	folder, err := os.MkdirTemp("", "kernel-launch-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	k, err := launcher.Launch(ctx, launcher.Spec{Environment: environment, Folder: folder})
	if err != nil {
		return err
	}
	defer k.Kill()
	client, err := jupyter.Dial(whileRunning(ctx, k), k.Connection())
	if err != nil {
		return ended(k, err)
	}
	defer client.Close()
	if _, err := client.KernelInfo(whileRunning(ctx, k)); err != nil {
		return ended(k, err)
	}
	return nil
}

// examineSpecs names what Jupyter would start unconfined, and what of ours no longer works.
func (a *app) examineSpecs() []finding {
	specs, problems := a.listSpecs()
	var found []finding
	for _, p := range problems {
		if !p.Warning {
			found = append(found, finding{Check: "kernelspec", State: "remark", Text: p.Error()})
		}
	}
	confined := 0
	for _, s := range specs {
		if s.Confined {
			confined++
			continue
		}
		found = append(found, finding{Check: "kernelspec " + s.Name, State: "remark", Text: fmt.Sprintf("%q is not confined (%s)", s.DisplayName, s.Path)})
	}
	if confined == 0 {
		found = append(found, finding{"kernelspecs", "remark", "Jupyter offers no confined kernel yet", "kernel-launch kernelspec install --env default"})
	}
	return found
}
