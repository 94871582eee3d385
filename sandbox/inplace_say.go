package sandbox

import (
	"fmt"
	"strings"
)

// inPlaceSentences say a plan of a platform without mounts: what is open, and then the backend's own steps.
func (p *Plan) inPlaceSentences() []string {
	out := []string{
		fmt.Sprintf("The command works in %s, its home is %s.", quoted(p.Dir), quoted(p.Home)),
		"It sees " + p.Network.String() + ".",
	}
	for _, m := range p.Mounts {
		if p.AppContainer != nil {
			break // its steps say the same, in their order
		}
		what := "is read"
		switch {
		case m.Kind == MountReadWrite:
			what = "is read and written"
		case m.Kind == MountMask:
			what = "stays closed"
		case m.Island:
			what = "stays as it is"
		}
		out = append(out, fmt.Sprintf("%s %s (%s).", quoted(m.Target), what, m.Why))
	}
	if a := p.AppContainer; a != nil {
		for i, step := range a.Steps {
			out = append(out, fmt.Sprintf("Step %d: %s.", i+1, step))
		}
	}
	if p.Seatbelt != nil {
		out = append(out, "The system's programs and libraries are read-only; "+p.Program+" applies the profile.")
	}
	out = append(out, sentences("Enforced: ", p.Enforced)...)
	out = append(out, sentences("Not enforced: ", p.Missing)...)
	for _, w := range p.Warnings {
		out = append(out, "Warning: "+w+".")
	}
	return out
}

// movedHome puts the home folder where it really is into the variables that were written for another place.
func movedHome(vars map[string]string, from, to, separator string) map[string]string {
	out := make(map[string]string, len(vars))
	for name, value := range vars {
		if rest, ok := strings.CutPrefix(value, from); ok && (rest == "" || rest[0] == '/') {
			value = to + strings.ReplaceAll(rest, "/", separator)
		}
		out[name] = value
	}
	return out
}
