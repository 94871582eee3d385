package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// checked is a report, and what could be done about it.
type checked struct {
	egress.Report
	Allow string `json:"allow,omitempty"` // the line that would let it through
	Why   string `json:"why,omitempty"`   // what else is in the way, where that is not the code's to say
}

func (a *app) egressCheck() *cobra.Command {
	var p place
	c := &cobra.Command{
		Use: "check HOST[:PORT]", Short: "would a kernel in this folder reach that host?",
		Long: "Says what the proxy of a kernel in the current folder would do with a connection to HOST (port 443 unless given), by which rule, and which line would change it. Nothing is connected to.",
		Args: arguments("HOST[:PORT]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, cfg, err := a.policy(p)
			if err != nil {
				return err
			}
			target, err := egress.ParseHost(args[0], 443)
			var number *egress.TargetError
			if errors.As(err, &number) && number.Code == egress.CodeNumericHost {
				r := checked{Report: egress.Report{Host: args[0], Code: number.Code, Addresses: []netip.Addr{}}, Why: number.What}
				return a.print(r, func(w io.Writer) { lines(w, r.sentences()) })
			}
			if err != nil {
				return usage(cmd, "%v", err)
			}
			a.sayClips(cfg, "egress.")
			if cfg.Sandbox.Network != sandbox.NetworkAllowlist {
				fmt.Fprintf(a.err, "kernel-launch: network is %s here; this is what allowlist would do\n", string(cfg.Sandbox.Network))
			}
			r := a.check(cmd.Context(), cfg, s, target, p.folder)
			return a.print(r, func(w io.Writer) { lines(w, r.sentences()) })
		},
	}
	p.bind(c)
	return c
}

func (a *app) check(ctx context.Context, cfg *launcher.Config, s config.Sources, t egress.Target, folder string) checked {
	rules := cfg.Rules()
	proxy := &egress.Proxy{
		Rules: func() (*egress.Rules, error) { return rules, nil }, Bounds: cfg.Egress.Bounds,
		Credentials: func() []egress.Credential { return credentialNames(cfg) }, Upstream: launcher.Upstream(a.getenv),
	}
	r := checked{Report: proxy.Check(ctx, t)}
	if r.Verdict == egress.Allow {
		if proxy.Upstream != nil && r.Code == egress.CodeProxyFailed {
			if _, err := proxy.Upstream(t); err != nil {
				r.Why = err.Error()
			}
		}
		return r
	}
	t.Port = r.Port
	scope, rule, found, err := config.Way(s, t)
	var clipped *config.ClippedError
	switch {
	case found && folder != "":
		r.Allow = launcher.AllowLine(scope, rule, s.Folder)
	case found:
		r.Allow = launcher.AllowLine(scope, rule, "")
	case errors.As(err, &clipped):
		r.Why = clipped.Error()
	}
	return r
}

// credentialNames are the configured credentials without a way to their values: to say that there are any takes none.
func credentialNames(cfg *launcher.Config) (all []egress.Credential) {
	for _, c := range cfg.Egress.Credentials {
		if t, err := egress.ParseHost(c.Host, 443); err == nil {
			all = append(all, egress.Credential{Host: t.Name, Header: c.Header})
		}
	}
	return all
}

// sentences say the report, and the line that would change it where one can.
func (r checked) sentences() []string {
	where := plain.Line(egress.Event{Host: r.Host, Port: r.Port}.Where(), 300)
	by := r.Code
	if r.Rule != "" {
		by += ", rule " + r.Rule
	}
	if r.Verdict != egress.Allow {
		out := []string{fmt.Sprintf("%s is refused (%s)%s", where, by, addresses(r))}
		if r.Allow != "" {
			out = append(out, "to allow it: "+r.Allow)
		}
		if r.Why != "" {
			out = append(out, r.Why)
		}
		return append(out, r.stamped()...)
	}
	out := []string{fmt.Sprintf("%s is allowed (%s)%s", where, by, addresses(r))}
	if r.Via != "" {
		out = append(out, fmt.Sprintf("it is reached through the proxy %s, which chooses the address", r.Via))
	}
	if r.Why != "" {
		out = append(out, r.Why)
	}
	return append(out, r.stamped()...)
}

// stamped says what is put on, and for whom.
func (r checked) stamped() []string {
	if len(r.Credentials) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("requests to http://%s go on as https with the header %s of config.yaml; a client that speaks TLS itself goes without", r.Host, strings.Join(r.Credentials, ", "))}
}

func addresses(r checked) string {
	var all []string
	for _, a := range r.Addresses {
		all = append(all, a.String())
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ")
}
