package launcher

import (
	"os"

	"github.com/google/uuid"

	"github.com/kernel-launch/kernel-launch/envs"
)

func newID() string { return uuid.NewString()[:8] }

// identify gives a kernel its id before anything is written down about it. A command's stands in logs alone.
func (k *Kernel) identify() error {
	if k.plan.Connection == nil {
		k.id = newID()
		return nil
	}
	if err := k.claim(); err != nil {
		return err
	}
	k.release = append(k.release, k.claimed.remove)
	return nil
}

// claim takes an id that no other kernel has. Nobody sees the kernel before it is registered.
func (k *Kernel) claim() error {
	dir, err := k.plan.host.dirs.Run()
	if err != nil {
		return err
	}
	r := &record{Record: Record{Schema: 1, PID: os.Getpid(), Start: envs.StartToken(os.Getpid()), Started: k.started.UTC(), dir: dir}}
	if err := r.claim(); err != nil {
		return err
	}
	k.id, k.claimed = r.ID, r
	return nil
}
