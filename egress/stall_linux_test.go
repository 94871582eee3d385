package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stallTime is after how long without a byte taken a sender counts as made to
// wait. A slow machine makes it wait earlier, which passes.
const stallTime = 500 * time.Millisecond

// send writes piece by piece until nobody takes any more, at most most bytes.
func send(c net.Conn, src io.Reader, most int) (sent int, stalled bool, err error) {
	buf := make([]byte, 64<<10)
	for sent < most {
		k, _ := src.Read(buf[:min(len(buf), most-sent)])
		c.SetWriteDeadline(time.Now().Add(stallTime))
		n, err := c.Write(buf[:k])
		sent += n
		if err != nil {
			return sent, errors.Is(err, os.ErrDeadlineExceeded), err
		}
	}
	return sent, false, nil
}

// Bytes for a host that is not reached yet stay with their sender.
func TestWhatIsSentBehindAHangingDialStalls(t *testing.T) {
	const most = 256 << 20
	length := fmt.Sprintf("Content-Length: %d\r\n\r\n", most)
	a := newAlone(t, "", Bounds{})
	var wg sync.WaitGroup
	for name, head := range map[string]string{
		"CONNECT":           "CONNECT hanging.allowed.test:443 HTTP/1.1\r\n\r\n",
		"CONNECT, look-up":  "CONNECT silent.allowed.test:443 HTTP/1.1\r\n\r\n",
		"upload":            "POST http://hanging.allowed.test/ HTTP/1.1\r\nHost: x\r\n" + length,
		"upload, look-up":   "POST http://silent.allowed.test/ HTTP/1.1\r\nHost: x\r\n" + length,
		"chunked":           "POST http://hanging.allowed.test/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
		"behind a GET":      "GET http://hanging.allowed.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"behind an upgrade": "GET http://hanging.allowed.test/ HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
	} {
		c := a.call(head)
		wg.Go(func() {
			sent, stalled, err := send(c, zeros{}, most)
			t.Logf("%s: %.1f MB taken", name, mega(int64(sent)))
			assert.True(t, stalled, "%s: %v", name, err)
			assert.Less(t, sent, 16<<20, "%s: what the system's buffers take", name)
		})
	}
	wg.Wait()
	a.requireGrowth(2e6)
}

// standstill are transfers whose readers stop after some bytes, and go on when
// all of them stand still.
type standstill struct {
	held   chan int64 // bytes that a sender was rid of when it had to wait
	resume chan struct{}
}

const standstillSize = 96 << 20

func (s *standstill) send(c net.Conn) error {
	src := newSeries()
	n, stalled, err := send(c, src, standstillSize)
	s.held <- int64(n)
	if !stalled {
		return fmt.Errorf("taken until %w", err)
	}
	<-s.resume
	c.SetWriteDeadline(time.Now().Add(time.Minute))
	src.at = int64(n)
	_, err = io.CopyN(struct{ io.Writer }{c}, src, standstillSize-src.at)
	return err
}

func (s *standstill) take(r io.Reader, first int64) error {
	got := newSeries()
	if _, err := io.CopyN(got, r, first); err != nil {
		return err
	}
	<-s.resume
	_, err := io.CopyN(got, r, standstillSize-first)
	return err
}

// serve is the origin: a path is how much of an upload it reads at first.
func (s *standstill) serve(c *net.TCPConn) {
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	status := 200
	if req.Method == http.MethodGet {
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", standstillSize)
		s.send(c)
		return
	}
	first, err := strconv.ParseInt(req.URL.Path[1:], 10, 64)
	if err == nil {
		err = s.take(req.Body, first)
	}
	if err != nil {
		status = 500
	}
	fmt.Fprintf(c, "HTTP/1.1 %d %v\r\nContent-Length: 0\r\n\r\n", status, err)
}

// ask is the client; at is where the host's root is.
func (s *standstill) ask(c *call, method, at string, first int64) error {
	c.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(c, "%s %s%d HTTP/1.1\r\nHost: allowed.test\r\n", method, at, first)
	if method == http.MethodPost {
		fmt.Fprintf(c, "Content-Length: %d\r\n\r\n", standstillSize)
		if err := s.send(c); err != nil {
			return err
		}
	} else {
		io.WriteString(c, "\r\n")
	}
	resp, err := http.ReadResponse(c.r, nil)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != 200:
		return errors.New(resp.Status)
	case method == http.MethodGet:
		return s.take(resp.Body, first)
	}
	return nil
}

// Whoever stops reading makes the sender wait, not the proxy hold; and when it
// goes on, every byte is in its place.
func TestAStalledReaderHoldsUpItsSender(t *testing.T) {
	s := &standstill{held: make(chan int64), resume: make(chan struct{})}
	a := newAlone(t, listen(t, s.serve), Bounds{})
	var wg sync.WaitGroup
	clients := 0
	for _, first := range []int64{0, 16 << 20} { // copied, and spliced
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			clients += 2
			plain, tunnel := a.call(""), a.call(connectAllowed).opened()
			wg.Go(func() {
				assert.NoError(t, s.ask(plain, method, "http://allowed.test/", first), "%s after %d", method, first)
			})
			wg.Go(func() {
				assert.NoError(t, s.ask(tunnel, method, "/", first), "%s through a tunnel after %d", method, first)
			})
		}
	}
	for range clients {
		t.Logf("%.1f MB taken before the stall", mega(<-s.held))
	}
	a.requireGrowth(3e6)
	close(s.resume)
	wg.Wait()
}

// A reset behind bytes that nobody takes is noticed long before the idle time.
func TestAResetBehindBytesThatNobodyTakesIsNoticed(t *testing.T) {
	defer func(d time.Duration) { quietLook = d }(quietLook)
	quietLook = 50 * time.Millisecond
	for name, head := range map[string]string{
		"tunnel": connectAllowed,
		"upload": fmt.Sprintf("POST http://allowed.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", standstillSize),
	} {
		t.Run(name, func(t *testing.T) {
			over, reported := make(chan struct{}), make(chan Event, 1)
			w := newWorld(t, withOrigin(listen(t, func(*net.TCPConn) { <-over })), func(w *world) {
				w.proxy.Event = func(e Event) { reported <- e }
			})
			c := w.call(head)
			if head == connectAllowed {
				c.opened()
			}
			_, stalled, err := send(c, zeros{}, standstillSize)
			require.True(t, stalled, "%v", err)
			reset(c)
			e := <-reported
			close(over)
			assert.Equal(t, EndClient, e.End)
		})
	}
}
