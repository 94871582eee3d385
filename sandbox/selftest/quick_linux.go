package selftest

import (
	"context"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Quick is the bounded self-test: some controls outside, one sandbox, and one launcher that is killed. It takes less than a second. Its error says that
// nothing could be run; a wall that does not hold is a row that is not OK. helper is a kernel-launch binary.
func Quick(ctx context.Context, b sandbox.Backend, helper string) (Report, error) {
	h, err := newHost(helper, false)
	if err != nil {
		return Report{}, err
	}
	defer h.close()
	var rows []row
	for _, r := range h.rows() {
		if r.quick {
			rows = append(rows, r)
		}
	}
	policy := h.policy(sandbox.NetworkNone)
	report, err := run(ctx, b, policy, rows)
	if err != nil {
		return Report{}, err
	}
	report.Rows = append(report.Rows, killed(ctx, policy))
	return report, nil
}

// All runs every row that attempts can show, with the network that is named.
func All(ctx context.Context, b sandbox.Backend, helper string, n sandbox.Network) (Report, error) {
	h, err := newHost(helper, true)
	if err != nil {
		return Report{}, err
	}
	defer h.close()
	rows := h.rows()
	if n == sandbox.NetworkHost {
		rows = h.hostRows()
	}
	return run(ctx, b, h.policy(n), rows)
}

// rows are all that hold where the network is severed.
func (h *host) rows() []row {
	var all []row
	for _, part := range [][]row{
		h.networkRows(), h.socketRows(), familyRows(), h.processRows(), h.callRows(), h.namespaceRows(), h.objectRows(), h.fileRows(), kernelRows(), deviceRows(), h.sizeRows(),
	} {
		all = append(all, part...)
	}
	return all
}
