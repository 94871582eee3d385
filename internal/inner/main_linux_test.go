package inner

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"
	"time"
)

// TestMain lets this test program be pid 1 of a sandbox, the stub, and a process that waits for a signal.
func TestMain(m *testing.M) {
	Main(context.Background(), os.Args)
	if os.Getenv("KERNEL_LAUNCH_TEST") == "wait" {
		signal.Notify(make(chan os.Signal, 1))
		fmt.Println("ready")
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	os.Exit(m.Run())
}
