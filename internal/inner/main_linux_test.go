package inner

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain lets this test program be pid 1 of a sandbox, the stub, and a process that settles.
func TestMain(m *testing.M) {
	Main(context.Background(), os.Args)
	if part := os.Getenv("KERNEL_LAUNCH_TEST"); part != "" {
		os.Exit(play(part))
	}
	os.Exit(m.Run())
}

// settled is what a process says after settle.
type settled struct {
	Core       unix.Rlimit
	OOM, Error string
}

func play(part string) int {
	if part != "settle" {
		fmt.Fprintf(os.Stderr, "unknown part %q\n", part)
		return 1
	}
	var s settled
	if err := settle(stubOptions{OOM: 200}); err != nil {
		s.Error = err.Error()
	}
	unix.Getrlimit(unix.RLIMIT_CORE, &s.Core)
	b, _ := os.ReadFile("/proc/self/oom_score_adj")
	s.OOM = string(b)
	json.NewEncoder(os.Stdout).Encode(s)
	return 0
}
