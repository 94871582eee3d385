package inner

import (
	"context"
	"os"
	"testing"
)

// TestMain lets this test program be pid 1 of a sandbox, and the stub.
func TestMain(m *testing.M) {
	Main(context.Background(), os.Args)
	os.Exit(m.Run())
}
