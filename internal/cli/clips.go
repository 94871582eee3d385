package cli

import (
	"fmt"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/launcher"
)

// sayClips says what the machine's ceiling took from one part of the policy.
func (a *app) sayClips(cfg *launcher.Config, part string) {
	for _, c := range cfg.Clips() {
		if strings.HasPrefix(c.Key, part) {
			fmt.Fprintln(a.err, "kernel-launch:", plain.Line(c.String(), 2000))
		}
	}
}

// clipped are the clips as findings; a configuration that cannot be read has none.
func clipped(cfg *launcher.Config) []finding {
	if cfg == nil {
		return nil
	}
	var found []finding
	for _, c := range cfg.Clips() {
		found = append(found, finding{Check: "configuration", State: "remark", Text: c.String()})
	}
	return found
}
