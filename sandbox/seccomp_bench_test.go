//go:build linux

package sandbox

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkCallsInside(b *testing.B) {
	for _, call := range []string{"getppid", "ioctl", "open"} {
		for _, filtered := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/filter=%v", call, filtered), func(b *testing.B) { spinInside(b, call, filtered) })
		}
	}
}

// spinInside lets the kernel be called b.N times in one sandbox. Its start is not measured.
func spinInside(b *testing.B, call string, filtered bool) {
	self, err := os.Executable()
	require.NoError(b, err)
	plan, err := Default().Plan(Policy{Helper: self})
	require.NoError(b, err)
	if !filtered {
		plan.Filter = nil
	}
	out, err := memory("output", nil)
	require.NoError(b, err)
	defer out.Close()
	p, err := Default().Start(b.Context(), plan, Command{Argv: []string{HelperTarget, "probe", "spin", call, fmt.Sprint(b.N)}, Stdout: out})
	require.NoError(b, err)
	require.NoError(b, p.Wait())
	var ns float64
	_, err = fmt.Fscan(io.NewSectionReader(out, 0, 100), &ns)
	require.NoError(b, err)
	b.ReportMetric(ns, "ns/call")
	b.ReportMetric(0, "ns/op")
}
