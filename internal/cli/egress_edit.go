package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

func (a *app) egressAllow() *cobra.Command {
	return a.egressEdit("allow", "let kernels reach hosts", `Lets kernels reach HOST: a name, .domain (and all below) or *.domain (only below), each with :PORT or on 443 and 80.
What was allowed before stays allowed; a deny of exactly that rule in the same place goes.`, config.Allow)
}

func (a *app) egressDeny() *cobra.Command {
	return a.egressEdit("deny", "keep kernels from hosts, whatever else allows them", `Keeps kernels from HOST: a name, .domain (and all below) or *.domain (only below), each with :PORT or on every port.
It holds whatever allows the host; an allow of exactly that rule in the same place goes.`, config.Deny)
}

func (a *app) egressEdit(verb, short, long string, change func(config.Scope, ...egress.Rule) config.Change) *cobra.Command {
	var p place
	c := &cobra.Command{
		Use: verb + " HOST[:PORT]...", Short: short,
		Long: long + `

This edits config.yaml and keeps its comments. It holds for this folder and those below, unless --env or --everywhere says otherwise, and kernels that run
follow with their next connection.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage(cmd, "HOST is missing")
			case p.everywhere && p.env != "", p.folder != "" && (p.everywhere || p.env != ""):
				return usage(cmd, "it holds for one of --folder, --env and --everywhere")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			rules, err := ruleArguments(cmd, args, p)
			if err != nil {
				return err
			}
			s, err := a.sources(place{folder: p.folder})
			if err != nil {
				return err
			}
			scope := config.Scope{Env: p.env, Everywhere: p.everywhere}
			e, err := a.edit(cmd.Context(), s, change(scope, rules...))
			if err != nil {
				return deniedElsewhere(err, s, rules)
			}
			return a.edited(verb, rules, scope, e)
		},
	}
	p.bindFolder(c)
	c.Flags().StringVar(&p.env, "env", "", "for kernels of the environment `NAME`, in every folder")
	c.Flags().BoolVar(&p.everywhere, "everywhere", false, "for every kernel of this user")
	return c
}

func ruleArguments(cmd *cobra.Command, args []string, p place) (rules []egress.Rule, err error) {
	for i, arg := range args {
		rule, err := egress.ParseRule(arg)
		var fault *egress.RuleError
		switch {
		case as(err, &fault) && fault.Suggest != "":
			meant := slices.Concat(args[:i], []string{fault.Suggest}, args[i+1:])
			return nil, &usageError{text: err.Error(), cmd: cmd, line: launcher.EditLine(cmd.Name(), config.Scope{Env: p.env, Everywhere: p.everywhere}, p.folder, meant...)}
		case err != nil:
			return nil, usage(cmd, "%v", err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// deniedElsewhere adds the line that takes the other rule back, when one does.
func deniedElsewhere(err error, s config.Sources, rules []egress.Rule) error {
	var denied *config.DeniedError
	if !errors.As(err, &denied) {
		return err
	}
	for _, rule := range rules {
		t, bad := egress.ParseHost(rule.String(), 443)
		if bad != nil || rule.String() != denied.Rule {
			continue
		}
		if scope, rule, found, _ := config.Way(s, t); found {
			return &refusedError{err.Error(), launcher.AllowLine(scope, rule, s.Folder)}
		}
	}
	return err
}

// editedJSON is an edit for tools.
type editedJSON struct {
	File    string   `json:"file"`
	Changed bool     `json:"changed"`
	Scope   string   `json:"scope"` // "folder", "environment" or "everywhere"
	Place   string   `json:"place"` // the folder as written in the file, the environment; empty for everywhere
	Verdict string   `json:"verdict"`
	Rules   []string `json:"rules"`
	Groups  []string `json:"groups"`
	Allow   []string `json:"allow"`
	Deny    []string `json:"deny"`
}

func (a *app) edited(verb string, rules []egress.Rule, scope config.Scope, e *config.Edited) error {
	a.sayClips(e.After, "egress.")
	if n := e.After.Sandbox.Network; n != sandbox.NetworkAllowlist {
		fmt.Fprintf(a.err, "kernel-launch: network is %s there; rules mean nothing until it is allowlist\n", string(n))
	}
	for _, r := range rules {
		if c := r.Caution(); c != "" && verb == "allow" {
			fmt.Fprintf(a.err, "kernel-launch: %s: %s\n", r, c)
		}
	}
	if len(e.Closed) > 0 {
		fmt.Fprintf(a.err, "kernel-launch: not in %s: there allow is a list of its own\n", plain.Line(strings.Join(e.Closed, ", "), 1000))
	}
	out := editedJSON{
		File: e.File, Changed: e.Changed, Scope: scopeWord(scope), Place: e.Place, Verdict: verb, Rules: written(rules),
		Groups: some(e.After.Egress.Groups), Allow: written(e.After.Egress.Allow), Deny: written(e.After.Egress.Deny),
	}
	return a.print(out, func(w io.Writer) { lines(w, out.sentences(scope)) })
}

func scopeWord(s config.Scope) string {
	switch {
	case s.Everywhere:
		return "everywhere"
	case s.Env != "":
		return "environment"
	}
	return "folder"
}

func written(rules []egress.Rule) []string {
	out := []string{}
	for _, r := range rules {
		out = append(out, r.String())
	}
	return out
}

func (j editedJSON) sentences(scope config.Scope) []string {
	where := map[string]string{
		"everywhere": "everywhere", "environment": "for the environment " + scope.Env, "folder": "in " + plain.Line(j.Place, 400) + " and below",
	}[j.Scope]
	done := map[string]string{"allow": "allowed", "deny": "denied"}[j.Verdict] + " " + where + ": " + strings.Join(j.Rules, ", ")
	if !j.Changed {
		return []string{"already " + done}
	}
	now := "what kernels may reach now: " + strings.Join(append(groupWords(j.Groups), j.Allow...), ", ")
	if len(j.Groups)+len(j.Allow) == 0 {
		now = "kernels may reach no host now"
	}
	if len(j.Deny) > 0 {
		now += "; never " + strings.Join(j.Deny, ", ")
	}
	return []string{done + " (" + filepath.Base(j.File) + ")", now, "kernels that run follow with their next connection"}
}

func groupWords(names []string) (out []string) {
	for _, n := range names {
		out = append(out, "the group "+n)
	}
	return out
}

// editWait is how long an edit waits for others to end; each takes milliseconds.
const editWait = 10 * time.Second

func (a *app) edit(ctx context.Context, s config.Sources, c config.Change) (*config.Edited, error) {
	ctx, cancel := context.WithTimeout(ctx, editWait)
	defer cancel()
	return config.Edit(ctx, s, c)
}

// ofEdit are changes of config.yaml that were not made.
func ofEdit(err error, x *explained) bool {
	var edit *config.EditError
	var clipped *config.ClippedError
	var denied *config.DeniedError
	var busy *config.BusyError
	switch {
	case as(err, &edit) && edit.ByHand:
		return x.set("edit", statusFailed, "edit %s", edit.File)
	case as(err, &edit):
		return x.set("edit", statusUsage, "kernel-launch folder show")
	case as(err, &clipped):
		return x.set("clipped", statusRefused, "ask the administrator of this machine")
	case as(err, &denied):
		return x.set("denied", statusRefused, "edit %s, line %d", denied.At[0].File, denied.At[0].Line)
	case as(err, &busy):
		return x.set("busy", statusBusy, "kernel-launch folder show")
	}
	return false
}
