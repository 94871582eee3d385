package egress

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// swap sends size bytes, ends that direction, and compares size bytes that
// come the other way.
func swap(c *net.TCPConn, r io.Reader, size int64) error {
	c.SetDeadline(time.Now().Add(2 * time.Minute))
	var wg sync.WaitGroup
	wg.Go(func() {
		copyPlainly(c, io.LimitReader(newSeries(), size)) // what is missing is missed at the other end
		c.CloseWrite()
	})
	defer wg.Wait()
	got := newSeries()
	err := copyPlainly(got, r)
	if err == nil && got.at != size {
		err = fmt.Errorf("%d of %d bytes came", got.at, size)
	}
	return err
}

// A gibibyte each way at once is whole, and leaves the proxy as small as it was.
func TestAGibibyteEachWay(t *testing.T) {
	const size = 1 << 30
	served := make(chan error, 1)
	a := newAlone(t, listen(t, func(c *net.TCPConn) { served <- swap(c, c, size) }), Bounds{})
	c := a.call(connectAllowed).opened()
	begin := time.Now()
	require.NoError(t, swap(c.TCPConn, c.rest(), size))
	require.NoError(t, <-served)
	t.Log(time.Since(begin))
	a.requireGrowth(3e6)
}
