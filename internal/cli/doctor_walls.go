package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/launcher"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// examineWalls says what a kernel is held to on this machine, and what it is not, with the cause.
func examineWalls(ctx context.Context, cfg *launcher.Config, d dirs.Dirs) []finding {
	found := examineProgram(ctx)
	plan, err := wallsHere(cfg, d)
	if err != nil {
		return append(found, remark("walls", err))
	}
	found = append(found, guaranteeFindings(plan.Enforced, plan.Missing)...)
	found = append(found, limitFindings(sandbox.ObserveLimits())...)
	found = append(found, examineGPUs()...)
	return append(found, examineLocks(d.Data, d.State)...)
}

// wallsHere is the plan of a kernel in an ordinary folder. Not one below /tmp, where links are nobody's affair.
func wallsHere(cfg *launcher.Config, d dirs.Dirs) (*sandbox.Plan, error) {
	folder, err := os.MkdirTemp("/var/tmp", "kernel-launch-doctor-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	helper, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := cfg.Sandbox
	return sandbox.Default().Plan(sandbox.Policy{
		Network: c.Network, Folder: folder, RealHome: d.Home, Helper: helper, Limits: c.Limits, Links: c.Links, GPU: c.GPU, Debug: c.Debug,
	})
}

func examineProgram(ctx context.Context) []finding {
	b, ok := any(sandbox.Default()).(interface{ Program() (string, error) })
	if !ok {
		return nil
	}
	program, err := b.Program()
	if err != nil {
		return nil // the probe has said so
	}
	version := sandbox.Version(ctx, program)
	f := finding{Check: "bubblewrap", State: "ok", Text: version + " at " + program}
	if text := sandbox.Advisory(version); text != "" {
		f.State, f.Text = "remark", f.Text+": "+text
	}
	return []finding{f}
}

// guaranteeFindings leave the limits out: which could be held is another question than which are set.
func guaranteeFindings(enforced, missing []sandbox.Guarantee) []finding {
	var names []string
	for _, g := range enforced {
		names = append(names, g.ID)
	}
	found := []finding{{Check: "walls", State: "ok", Text: fmt.Sprintf("%d guarantees hold: %s", len(names), strings.Join(names, ", "))}}
	for _, g := range missing {
		if !strings.HasPrefix(g.ID, "limits.") {
			found = append(found, finding{"walls: " + g.ID, "remark", g.Text, g.Remedy})
		}
	}
	return found
}

func limitFindings(tiers []sandbox.LimitTier) []finding {
	var held []string
	var found []finding
	for _, t := range tiers {
		if t.Tier == "" {
			found = append(found, finding{Check: "limits: " + t.Limit, State: "remark", Text: "nothing here can hold a limit of " + t.Limit + ": " + t.Why})
			continue
		}
		held = append(held, t.Limit+" by "+t.Tier.String())
	}
	if len(held) > 0 {
		found = append(found, finding{Check: "limits", State: "ok", Text: "can be held: " + strings.Join(held, ", ")})
	}
	return found
}

// cards are what has to be opened to use a GPU, by the value of sandbox.gpu.
var cards = []struct{ kind, pattern, control string }{
	{"nvidia", "/dev/nvidia[0-9]*", "/dev/nvidiactl"},
	{"amd", "/dev/dri/renderD*", "/dev/kfd"},
}

// examineGPUs opens the devices of cards that are here; a machine without one has nothing to say.
func examineGPUs() []finding {
	var found []finding
	for _, c := range cards {
		devices, err := filepath.Glob(c.pattern)
		if _, gone := os.Lstat(c.control); err != nil || gone != nil || len(devices) == 0 {
			continue
		}
		f := finding{Check: "gpu", State: "ok", Text: fmt.Sprintf("%s can be used; sandbox.gpu: %s shows them to kernels", strings.Join(devices, ", "), c.kind)}
		for _, path := range append(devices, c.control) {
			dev, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				f = finding{"gpu", "remark", fmt.Sprintf("a card is here that this user cannot use: %v", err), "ask the administrator for the group that owns " + path}
				break
			}
			dev.Close()
		}
		found = append(found, f)
	}
	return found
}

// examineLocks tries a lock where ours are: some network file systems have none.
func examineLocks(folders ...string) []finding {
	var found []finding
	for _, folder := range folders {
		f, err := os.CreateTemp(folder, ".doctor-*")
		if err != nil {
			continue // not made yet, or not ours to write: whatever needs it says so
		}
		f.Close()
		lock := flock.New(f.Name())
		if ok, err := lock.TryLock(); err != nil || !ok {
			found = append(found, finding{"locks", "remark", fmt.Sprintf("files in %s cannot be locked (%v), so only claims keep two installs apart", folder, err), "set XDG_DATA_HOME and XDG_STATE_HOME to folders on a local disk"})
		}
		lock.Close()
		os.Remove(f.Name())
	}
	return found
}
