package launcher

import (
	"context"
	"os"
	"time"
)

// parentPoll is how often a launcher looks whether the process that started it still lives. PR_SET_PDEATHSIG would follow the thread that started it, and
// a server may start kernels from a thread that ends.
const parentPoll = time.Second

// WatchParent stops the kernel when the process that started this one has gone, and returns when either has. parent is what os.Getppid said at the
// very beginning: it may have gone since.
func (k *Kernel) WatchParent(ctx context.Context, parent int) {
	t := time.NewTicker(parentPoll)
	defer t.Stop()
	for os.Getppid() == parent {
		select {
		case <-k.done:
			return
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
	k.Stop(ctx)
}
