package envs

import (
	"fmt"
	"strings"

	"github.com/kernel-launch/kernel-launch/restart"
)

// ChangedError is a plan that is not what was approved any more: what it stands on has changed, or what it brings does more than its metadata said.
// Nothing was changed.
type ChangedError struct {
	Name    string
	Plan    string
	Why     string          // the half sentence before the changes
	Changes restart.Changes // what is different
}

const (
	changedSince = "the environment has changed since the plan was made"
	changedWorse = "what the plan brings has changed from what was approved: running kernels cannot run on"
)

// Worse says that the environment is as it was, and that what the plan brings would take something from running kernels that the plan did not say. It can
// go into a generation of its own: Plan.Apart.
func (e *ChangedError) Worse() bool { return e.Why == changedWorse }

func (e *ChangedError) Error() string {
	var what []string
	for i, c := range e.Changes {
		if i == 8 {
			what = append(what, fmt.Sprintf("and %d more", len(e.Changes)-i))
			break
		}
		what = append(what, c.String())
	}
	s := fmt.Sprintf("plan %s for environment %q: %s", e.Plan, e.Name, e.Why)
	if len(what) > 0 {
		s += ": " + strings.Join(what, "; ")
	}
	return s
}

// ExpiredError is a plan that is too old to be done.
type ExpiredError struct{ Plan, Expired string }

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("plan %s expired at %s", e.Plan, e.Expired)
}
