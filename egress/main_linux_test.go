package egress

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// insideVar makes this test program the one that resolves in a network of its
// own.
const insideVar = "EGRESS_TEST_RESOLVES"

// TestMain lets the test program be what runs in a network of its own, and the
// proxy that another one of it measures.
func TestMain(m *testing.M) {
	var err error
	switch order := os.Getenv(aloneVariable); {
	case order != "":
		err = serveAlone(order)
	case os.Getenv(insideVar) != "":
		err = resolveAndTell()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func resolveAndTell() error {
	seen, err := resolveInside()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(seen)
}
