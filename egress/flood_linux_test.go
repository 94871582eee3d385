package egress

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// flood writes piece again and again until nobody takes it, at most most
// bytes of it.
func flood(c net.Conn, piece []byte, most int) (sent int, err error) {
	for sent < most && err == nil {
		var n int
		n, err = c.Write(piece)
		sent += n
	}
	return sent, err
}

// Whatever a client sends instead of a head that ends, it is answered, its
// connection ends, and the proxy holds next to nothing of it.
func TestFloodsOfHeads(t *testing.T) {
	const most = 16 << 30
	piece := strings.Repeat("a", 64<<10)
	kinds := map[string]struct {
		begin, again string
		status       int
	}{
		"request line":    {"GET http://allowed.test/", piece, 414},
		"CONNECT line":    {"CONNECT ", piece, 414},
		"method":          {"", piece, 414},
		"one field":       {connectAllowed[:len(connectAllowed)-2] + "X: ", piece, 431},
		"field name":      {connectAllowed[:len(connectAllowed)-2], piece, 431},
		"small fields":    {connectAllowed[:len(connectAllowed)-2], strings.Repeat("X: 1\r\n", 1000), 431},
		"large fields":    {connectAllowed[:len(connectAllowed)-2], "X: " + piece[:9000] + "\r\n", 431},
		"chunk extension": {"POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;", piece, 400},
		"trailer":         {"POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: 1\r\n" + strings.Repeat("X-Y: 2\r\n", 1000), 400},
	}
	a := newAlone(t, listen(t, func(c *net.TCPConn) { io.Copy(io.Discard, onlyReader{c}) }), Bounds{})
	var wg sync.WaitGroup
	for name, k := range kinds {
		for range 4 {
			c := a.call(k.begin)
			wg.Go(func() {
				sent, err := flood(c, []byte(k.again), most)
				assert.Error(t, err, "%s: %d bytes were taken", name, sent)
			})
			wg.Go(func() {
				resp, err := http.ReadResponse(c.r, nil)
				if assert.NoError(t, err, name) {
					assert.Equal(t, k.status, resp.StatusCode, name)
				}
			})
		}
	}
	wg.Wait()
	a.requireGrowth(3e6)
}

// A head that never ends has its time as a whole, however much comes of it.
func TestADrippingHeadIsAnswered(t *testing.T) {
	a := newAlone(t, "", Bounds{HeadTime: 500 * time.Millisecond})
	var wg sync.WaitGroup
	for _, begin := range []string{"", "G", "CONNECT allowed", connectAllowed[:len(connectAllowed)-2] + "X: ", connectAllowed[:len(connectAllowed)-2] + "X: " + strings.Repeat("a", 60_000)} {
		c := a.call(begin)
		wg.Go(func() {
			resp, err := http.ReadResponse(c.r, nil)
			if begin == "" {
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "closed without a word")
			} else if assert.NoError(t, err) {
				assert.Equal(t, 408, resp.StatusCode)
			}
		})
		if begin != "" {
			wg.Go(func() {
				for err := error(nil); err == nil; time.Sleep(20 * time.Millisecond) {
					_, err = c.Write([]byte("A"))
				}
			})
		}
	}
	wg.Wait()
	a.requireGrowth(3e6)
}
