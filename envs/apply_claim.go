package envs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/internal/plain"
)

const (
	claimName = "claim.json"
	claimMost = 64 << 10

	claimWorking = "working"
	claimFailed  = "failed"
)

// claim explains who changes an environment, or how the last attempt failed. It proves nothing: that is the lock's part.
type claim struct {
	Schema      int       `json:"schema"`
	Environment string    `json:"environment"`
	Plan        string    `json:"plan"`
	State       string    `json:"state"`
	Reason      string    `json:"reason,omitempty"`
	Time        time.Time `json:"time"`
	Host        string    `json:"host"`
	Pid         int       `json:"pid"`
	Token       string    `json:"token,omitempty"` // boot and start time of the process: a number comes back, this does not
}

func newClaim(environment, plan string) claim {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return claim{
		Schema: 1, Environment: environment, Plan: plan, State: claimWorking, Time: time.Now().UTC().Truncate(time.Second),
		Host: host, Pid: os.Getpid(), Token: StartToken(os.Getpid()),
	}
}

func (c claim) write(dir string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return dirs.WriteVolatile(filepath.Join(dir, claimName), append(data, '\n'), 0o600)
}

func (c claim) failed(dir string, reason error) error {
	c.State, c.Reason = claimFailed, plain.Line(reason.Error(), 2000)
	return c.write(dir)
}

func (claim) remove(dir string) error {
	return missingIsNone(os.Remove(filepath.Join(dir, claimName)))
}

func readClaim(dir string) (c claim, ok bool) {
	p := filepath.Join(dir, claimName)
	if fi, err := os.Lstat(p); err != nil || !fi.Mode().IsRegular() || fi.Size() > claimMost {
		return c, false
	}
	data, err := os.ReadFile(p)
	return c, err == nil && json.Unmarshal(data, &c) == nil
}

// explainBusy adds who it is, as far as that is known.
func explainBusy(dir string, err error) error {
	var busy *BusyError
	c, ok := readClaim(dir)
	if !errors.As(err, &busy) || !ok || c.State != claimWorking {
		return err
	}
	what := fmt.Sprintf("process %d on %s does plan %s since %s", c.Pid, plain.Line(c.Host, 80), plain.Line(c.Plan, 40), c.Time.Format(time.RFC3339))
	return &BusyError{busy.Name, what}
}
