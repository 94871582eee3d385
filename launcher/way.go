package launcher

import (
	"errors"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/config"
	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// way is the line that would let the kernel reach what was refused, one that can be pasted wherever the reader's shell is. Where no line would, ceiling is
// the machine's file that keeps it from being allowed; both are empty when nothing of this can be said.
func (p *Plan) way(e egress.Event) (line, ceiling string) {
	if p.spec.Config != nil { // an embedder's policy, which no command changes
		return "", ""
	}
	switch e.Code {
	case egress.CodeNotListed, egress.CodePortNotListed, egress.CodeAddressLiteral, egress.CodeDenyRule:
	default:
		return "", ""
	}
	t, err := egress.ParseHost(e.Host, e.Port)
	if err != nil {
		return "", ""
	}
	h := p.host
	sc, rule, found, err := config.Way(ConfigSources(h.dirs, p.spec.Environment, h.folder, p.spec.Profile), t)
	var clipped *config.ClippedError
	switch {
	case found:
		return AllowLine(sc, rule, h.folder), ""
	case errors.As(err, &clipped):
		return "", clipped.Clips[0].At.File
	}
	return "", ""
}

// AllowLine is the command that allows a rule; folder is the one that it is for, and empty when that is the current one.
func AllowLine(sc config.Scope, rule egress.Rule, folder string) string {
	return EditLine("allow", sc, folder, rule.String())
}

// EditLine is the command that allows or denies rules, by its verb.
func EditLine(verb string, sc config.Scope, folder string, rules ...string) string {
	line := "kernel-launch egress " + verb
	for _, rule := range rules {
		line += " " + plain.ShellWord(rule)
	}
	switch {
	case sc.Everywhere:
		return line + " --everywhere"
	case sc.Env != "":
		return line + " --env " + plain.ShellWord(sc.Env)
	case folder != "":
		return line + " --folder " + plain.ShellWord(folder)
	}
	return line
}
