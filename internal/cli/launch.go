package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
)

// interruptWait is how long a SIGINT is held before it is forwarded. Some editors interrupt every descendant and the launcher, in any order; by then the
// inside has seen its own and drops ours.
const interruptWait = 40 * time.Millisecond

// launch is the default command: what a kernelspec calls.
func (a *app) launch(cmd *cobra.Command, policy policyFlags, file string, dry bool) error {
	parent := os.Getppid()
	ctx := cmd.Context()
	start, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	r := relay{pass: forward, breaks: ends}
	if !dry {
		stop := r.begin(ctx, abort)
		defer stop()
	}
	spec, err := a.spec(policy)
	if err != nil {
		return err
	}
	spec.ConnectionFile, spec.AnyFolder = file, true
	spec.Stdout, spec.Stderr = a.log(), a.err
	plan, err := spec.Plan()
	if err != nil {
		return err
	}
	if dry {
		return a.print(planJSON(plan), func(w io.Writer) { lines(w, plan.Sentences()) })
	}
	a.announce(plan)
	<-r.caught
	k, err := launcher.Start(start, plan)
	if ended := (*signalError)(nil); errors.As(context.Cause(start), &ended) && err != nil {
		return &quietError{128 + int(ended.signal)}
	}
	if err != nil {
		return err
	}
	r.hand(ctx, k)
	if a.getenv("JPY_PARENT_PID") != "" { // without it, the client wants the kernel to outlive it
		go k.WatchParent(ctx, parent)
	}
	exit := k.Wait()
	a.status = exit.Code
	a.notes(exit)
	if exit.Reason != launcher.ReasonStopped && exit.Code != 0 {
		fmt.Fprintln(a.err, "kernel-launch:", exit) // last: editors show the end of this stream
	}
	return nil
}

// begin starts what a spec asks for, after what its user must see.
func (a *app) begin(ctx context.Context, spec launcher.Spec) (*launcher.Kernel, error) {
	plan, err := spec.Plan()
	if err != nil {
		return nil, err
	}
	a.announce(plan)
	return launcher.Start(ctx, plan)
}

// announce says what the user of a plan must see: what the machine's ceiling took away, what is not as was asked for, what is weaker than usual.
func (a *app) announce(p *launcher.Plan) {
	for _, s := range append(slices.Clone(p.Notices), p.Sandbox.Warnings...) {
		fmt.Fprintln(a.err, "kernel-launch:", plain.Line(s, 2000))
	}
}

// notes say what a kernel left behind that the user should know of.
func (a *app) notes(exit launcher.Exit) {
	for _, s := range exit.Notes {
		fmt.Fprintln(a.err, "kernel-launch:", plain.Line(s, 2000))
	}
}

// ends leaves SIGINT out: an interrupt of a kernel that does not run yet is none.
func ends(s os.Signal) bool { return s == syscall.SIGTERM || s == syscall.SIGHUP }

func forward(ctx context.Context, k *launcher.Kernel, sig syscall.Signal) {
	switch {
	case sig == syscall.SIGINT:
		time.AfterFunc(interruptWait, func() { k.Interrupt() })
	case ends(sig):
		go k.Terminate(ctx, sig)
	default:
		k.Signal(sig)
	}
}

// spec is what every launching command starts from.
func (a *app) spec(policy policyFlags) (launcher.Spec, error) {
	s := launcher.Spec{Environment: policy.env, Profile: policy.profile, Overrides: policy.overrides}
	if s.Environment == "" {
		name, err := a.defaultEnvironment(policy.profile)
		if err != nil {
			return s, err
		}
		s.Environment = name
	}
	return s, nil
}

// defaultEnvironment is the one that the configuration names for this folder, else "default".
func (a *app) defaultEnvironment(profile string) (string, error) {
	cfg, err := a.config(profile)
	if err != nil {
		return "", err
	}
	return environmentOf(cfg), nil
}

func environmentOf(cfg *launcher.Config) string {
	if cfg.Env != "" {
		return cfg.Env
	}
	return "default"
}

// planJSON is a plan for tools. Values of variables are not in it: some are secrets.
func planJSON(p *launcher.Plan) map[string]any {
	out := map[string]any{}
	if b, err := json.Marshal(p.Sandbox); err == nil {
		json.Unmarshal(b, &out)
	}
	out["environment"] = p.Environment.Name
	out["language"] = p.Environment.Language
	out["generation"] = p.Environment.Generation
	out["command"] = p.Command
	out["environment_variables"] = p.VariableNames()
	out["folder"] = p.Folder
	out["kept_home"] = p.KeptHome
	out["notices"] = append([]string{}, p.Notices...)
	out["egress"] = some(p.EgressSentences())
	out["forward"], out["publish"] = some(portsOf(p, launcher.Forwarded)), some(portsOf(p, launcher.Published))
	out["enforced"], out["missing"], out["warnings"] = some(p.Sandbox.Enforced), some(p.Sandbox.Missing), some(p.Sandbox.Warnings)
	return out
}
