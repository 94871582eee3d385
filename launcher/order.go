package launcher

import (
	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// orderFor is the part of an order that carries a plan's walls on to the inside: what only the program's own process can put on itself, and what only
// the inside can see.
func orderFor(p *sandbox.Plan, process sandbox.Process) link.Order {
	o := link.Order{OOM: oomScore}
	if l := p.Landlock; l != nil {
		walls := link.Landlock(*l)
		o.Landlock = &walls
	}
	if b := p.Bounds; b != nil {
		for _, r := range b.Rlimits {
			o.Rlimits = append(o.Rlimits, link.Rlimit(r))
		}
	}
	for _, i := range process.Islands() {
		o.Islands = append(o.Islands, link.Island(i))
	}
	return o
}
