package main

import (
	"context"
	"fmt"
	"time"
)

// measureStarts is the time from the start of the first process to the first kernel_info_reply, in turns.
func measureStarts(ctx context.Context, w *world) ([]Row, error) {
	kinds := []kind{plainKernel, allowlistKernel, noneKernel}
	times, err := inTurns(w.n, len(kinds), func(i int) (float64, error) { return w.timeStart(ctx, kinds[i]) })
	if err != nil {
		return nil, err
	}
	peer := fmt.Sprintf("spawn → kernel_info_reply, against plain ipykernel %s", w.version("ipykernel"))
	return []Row{
		against(peer, "ms", times[1], times[0]).bar("ratio", 1.04),
		against(peer+", network none", "ms", times[2], times[0]).bar("ratio", 1.04),
		against("spawn → kernel_info_reply, allowlist against none", "ms", times[1], times[2]),
	}, nil
}

// inTurns measures each of several things n times, one after the other, beginning with another one each time. The first turn fills caches and is
// left out.
func inTurns(n, things int, measure func(i int) (float64, error)) ([][]float64, error) {
	out := make([][]float64, things)
	for turn := range n + 1 {
		for k := range things {
			i := (turn + k) % things
			v, err := measure(i)
			if err != nil {
				return nil, err
			}
			if turn > 0 {
				out[i] = append(out[i], v)
			}
		}
	}
	return out, nil
}

func (w *world) timeStart(ctx context.Context, k kind) (float64, error) {
	r, err := w.spawn(k)
	if err != nil {
		return 0, err
	}
	defer r.stop()
	ctx, cancel := r.while(ctx)
	defer cancel()
	if err := firstReply(ctx, r.conn); err != nil {
		return 0, fmt.Errorf("%s: %w", k.name, err)
	}
	return milliseconds(time.Since(r.began)), nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
