package witness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// ListenLow listens on 127.0.0.1, below the ports that programs get which ask for any, on their way out or, as ipykernel does inside, to listen there: what is
// free must be so when it is used, outside and in.
func ListenLow(t testing.TB) net.Listener {
	t.Helper()
	for range 100 {
		if l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))); err == nil {
			return l
		}
	}
	t.Fatal("no free port")
	return nil
}

// FreePort is one that ListenLow has just had.
func FreePort(t testing.TB) int {
	t.Helper()
	return FreePorts(t, 1)[0]
}

// FreePorts are so many different ones.
func FreePorts(t testing.TB, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l := ListenLow(t)
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}
