package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

func (a *app) egressCommand() *cobra.Command {
	return group("egress", "what kernels may reach", a.egressCheck())
}

func (a *app) egressCheck() *cobra.Command {
	var profile string
	c := &cobra.Command{
		Use: "check HOST[:PORT]", Short: "would a kernel in this folder reach that host?",
		Long: "Says what the proxy of a kernel in the current folder would do with a connection to HOST (port 443 unless given), and by which rule.",
		Args: arguments("HOST[:PORT]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.config(profile)
			if err != nil {
				return err
			}
			target, err := egress.ParseHost(args[0], 443)
			if err != nil {
				return usage(cmd, "%v", err)
			}
			a.sayClips(cfg, "egress.")
			if cfg.Sandbox.Network != sandbox.NetworkAllowlist {
				fmt.Fprintf(a.err, "kernel-launch: network is %s here; this is what allowlist would do\n", string(cfg.Sandbox.Network))
			}
			rules := cfg.Rules()
			proxy := &egress.Proxy{Rules: func() (*egress.Rules, error) { return rules, nil }}
			r := proxy.Check(cmd.Context(), target)
			return a.print(r, func(w io.Writer) { lines(w, checkSentences(r)) })
		},
	}
	c.Flags().StringVar(&profile, "profile", "", "profile `NAME` of config.yaml")
	return c
}

// checkSentences say a report, and the line that would change it where one can.
func checkSentences(r egress.Report) []string {
	where := fmt.Sprintf("%s:%d", r.Host, r.Port)
	by := r.Code
	if r.Rule != "" {
		by += ", rule " + r.Rule
	}
	if r.Verdict == egress.Allow {
		out := fmt.Sprintf("%s is allowed (%s)", where, by)
		for i, a := range r.Addresses {
			if i == 0 {
				out += ": " + a.String()
			} else {
				out += ", " + a.String()
			}
		}
		return []string{out}
	}
	out := []string{fmt.Sprintf("%s is refused (%s)", where, by)}
	if r.Code == egress.CodeNotListed || r.Code == egress.CodePortNotListed {
		rule := r.Host
		if r.Port != 443 && r.Port != 80 {
			rule = where
		}
		out = append(out, "to allow it, add to egress.allow in config.yaml: "+rule)
	}
	return out
}

// config is the policy of the current folder.
func (a *app) config(profile string) (*launcher.Config, error) {
	d, err := launcher.Dirs(a.getenv)
	if err != nil {
		return nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return launcher.LoadConfig(d, folder, profile)
}
