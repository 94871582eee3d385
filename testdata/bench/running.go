package main

import (
	"context"
	"fmt"
	"time"

	"github.com/kernel-launch/kernel-launch/jupyter"
)

// streamed is how much a cell prints, in pieces of streamPiece bytes.
const (
	streamed    = 50 << 20
	streamPiece = 1 << 20
)

// measureRunning compares two kernels that run side by side: a question and its answer, and a cell that prints much.
func measureRunning(ctx context.Context, w *world) ([]Row, error) {
	var clients []*jupyter.Client
	for _, k := range []kind{plainKernel, allowlistKernel} {
		r, err := w.spawn(k)
		if err != nil {
			return nil, err
		}
		defer r.stop()
		ready, cancel := r.while(ctx)
		defer cancel()
		c, err := jupyter.Dial(ready, r.conn)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		if _, err := c.KernelInfo(ready); err != nil {
			return nil, err
		}
		clients = append(clients, c)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	trips, err := inTurns(w.trips, 2, func(i int) (float64, error) { return trip(ctx, clients[i]) })
	if err != nil {
		return nil, err
	}
	streams, err := inTurns(max(w.n/2, 3), 2, func(i int) (float64, error) { return stream(ctx, clients[i]) })
	if err != nil {
		return nil, err
	}
	return []Row{
		against("kernel_info round trip on a running kernel, against plain", "ms", trips[1], trips[0]).bar("ratio", 1.05),
		against("a cell prints 50 MB, against plain", "ms", streams[1], streams[0]),
	}, nil
}

func trip(ctx context.Context, c *jupyter.Client) (float64, error) {
	began := time.Now()
	_, err := c.KernelInfo(ctx)
	return milliseconds(time.Since(began)), err
}

func stream(ctx context.Context, c *jupyter.Client) (float64, error) {
	got := 0
	began := time.Now()
	code := fmt.Sprintf("import sys\nfor _ in range(%d):\n    sys.stdout.write('x' * %d)\n    sys.stdout.flush()", streamed/streamPiece, streamPiece)
	reply, err := c.Execute(ctx, code, jupyter.ExecuteOptions{Output: func(m jupyter.Message) {
		if s, ok := m.Stream(); ok {
			got += len(s.Text)
		}
	}})
	took := milliseconds(time.Since(began))
	switch {
	case err != nil:
		return 0, err
	case reply.Status != "ok" || got != streamed:
		return 0, fmt.Errorf("the cell ended with %q after %d of %d bytes", reply.Status, got, streamed)
	}
	return took, nil
}
