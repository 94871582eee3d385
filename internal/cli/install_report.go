package cli

import (
	"fmt"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/restart"
)

// report is the answer for tools, filled as far as the change came.
type report struct {
	Status      string                   `json:"status"`
	Environment string                   `json:"environment"`
	Plan        *reportedPlan            `json:"plan"`
	Additive    bool                     `json:"additive"`
	Changes     []reportedChange         `json:"changes"`
	Kernels     []launcher.KernelVerdict `json:"kernels"`
	Alternative *reportedAlternative     `json:"alternative"`
	Hooks       []string                 `json:"hooks"`
	Error       *explained               `json:"error,omitempty"`
}

type reportedPlan struct {
	ID      string `json:"id"`
	Digest  string `json:"digest"`
	Expires string `json:"expires"`
}

type reportedChange struct {
	Name  string        `json:"name"`
	From  *string       `json:"from"`
	To    *string       `json:"to"`
	Class restart.Class `json:"class"`
}

type reportedAlternative struct {
	Additive bool                     `json:"additive"`
	Changes  []reportedChange         `json:"changes"`
	Kernels  []launcher.KernelVerdict `json:"kernels"`
}

func reported(list restart.Changes) []reportedChange {
	out := []reportedChange{}
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	for _, c := range list {
		out = append(out, reportedChange{c.Name, text(c.From), text(c.To), c.Class})
	}
	return out
}

// sentences say the report as a person would.
func (r *report) sentences() []string {
	var out []string
	if r.Status == "unchanged" {
		return []string{"Everything that was asked for is there already."}
	}
	out = append(out, changeSentences(r.Changes)...)
	for _, k := range r.Kernels {
		s := fmt.Sprintf("kernel %s: %s", k.ID, k.Verdict)
		if k.Action != "" {
			s += ", " + string(k.Action)
		}
		if len(k.Reasons) > 0 {
			s += " (" + strings.Join(k.Reasons, "; ") + ")"
		}
		out = append(out, plain.Line(s, 1000))
	}
	if r.Additive {
		out = append(out, "No running kernel has to restart.")
	}
	if alt := r.Alternative; alt != nil && r.Status != "installed" {
		which := "the newest versions (--newest)"
		if alt.Additive {
			which = "without a restart (leave --newest out)"
		}
		out = append(out, "Or, "+which+":")
		for _, s := range changeSentences(alt.Changes) {
			out = append(out, "  "+s)
		}
	}
	if r.Plan != nil && r.Status == "planned" {
		out = append(out, "next: kernel-launch install --plan "+r.Plan.ID)
	}
	return out
}

func changeSentences(list []reportedChange) []string {
	var out []string
	for _, c := range list {
		name := plain.Line(c.Name, 100)
		switch {
		case c.From == nil && c.To != nil:
			out = append(out, fmt.Sprintf("+ %s %s", name, plain.Line(*c.To, 60)))
		case c.To == nil && c.From != nil:
			out = append(out, fmt.Sprintf("- %s %s", name, plain.Line(*c.From, 60)))
		case c.From != nil:
			out = append(out, fmt.Sprintf("~ %s %s → %s", name, plain.Line(*c.From, 60), plain.Line(*c.To, 60)))
		default:
			out = append(out, fmt.Sprintf("~ %s (%s)", name, c.Class))
		}
	}
	return out
}
