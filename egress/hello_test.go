package egress

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// secure is a real TLS server behind the proxy, which counts what it serves.
func secure(t *testing.T) (w *world, served *[]string) {
	served = new([]string)
	s := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		*served = append(*served, r.TLS.ServerName)
		io.WriteString(rw, "hello "+r.Host)
	}))
	t.Cleanup(s.Close)
	return newWorld(t, withOrigin(s.Listener.Addr().String())), served
}

// ask speaks TLS through a tunnel to www.allowed.test, naming another host to
// TLS than to HTTP when it wants to.
func ask(w *world, conn net.Conn, name string) error {
	c := tls.Client(conn, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err := c.Handshake(); err != nil {
		return err
	}
	_, err := io.WriteString(c, "GET / HTTP/1.0\r\nHost: "+name+"\r\n\r\n")
	require.NoError(w.t, err)
	_, err = io.ReadAll(c)
	return err
}

const connectWWW = "CONNECT www.allowed.test:443 HTTP/1.1\r\n\r\n"

func TestTLSMustNameTheHostOfTheTunnel(t *testing.T) {
	for name, want := range map[string]string{
		"www.allowed.test":   "",
		"WWW.allowed.TEST":   "",
		"":                   "", // it names none
		"allowed.test":       "unrecognized name",
		"other.allowed.test": "unrecognized name",
		"www.elsewhere.test": "unrecognized name",
	} {
		t.Run(name, func(t *testing.T) {
			w, served := secure(t)
			c := w.call(connectWWW).opened()
			err := ask(w, c, name)
			if want == "" {
				require.NoError(t, err)
				assert.Len(t, *served, 1)
				c.Close()
				assert.Equal(t, Allow, w.waitEvent(0).Verdict)
				return
			}
			require.ErrorContains(t, err, want)
			e := w.waitEvent(0)
			assert.Equal(t, Deny, e.Verdict)
			assert.Equal(t, CodeServerName, e.Code)
			assert.Equal(t, EndRefused, e.End)
			assert.Equal(t, "www.allowed.test", e.Host)
			assert.Zero(t, e.Sent, "nothing of it reached the host")
			assert.Empty(t, *served)
		})
	}
}

// dribble writes one byte at a time.
type dribble struct{ net.Conn }

func (d dribble) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := d.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

func TestAHelloInPiecesIsReadWhole(t *testing.T) {
	w, _ := secure(t)
	require.NoError(t, ask(w, dribble{w.call(connectWWW).opened()}, "www.allowed.test"))
	require.Error(t, ask(w, dribble{w.call(connectWWW).opened()}, "www.elsewhere.test"))
}

func TestAHelloThatNobodyUnderstandsIsRefused(t *testing.T) {
	w, served := secure(t)
	c := w.call(connectWWW).opened()
	c.send("\x16\x03\x01\x00\x05\x01\x00\x00\x01\xff")
	alert, err := io.ReadAll(c.r)
	require.NoError(t, err)
	assert.Equal(t, unrecognizedName, alert)
	assert.Equal(t, CodeServerName, w.waitEvent(0).Code)
	assert.Empty(t, *served)
}

func TestAHelloThatIsNeverFinishedEnds(t *testing.T) {
	w := newWorld(t, func(w *world) { w.proxy.Bounds.HeadTime = 50 * time.Millisecond })
	c := w.call(connectWWW).opened()
	c.send("\x16\x03\x01\x02\x00\x01")
	io.ReadAll(c.r)
	assert.Equal(t, EndIdle, w.waitEvent(0).End)
}

func TestTheHostMaySpeakFirstAndWhatIsNotTLSPasses(t *testing.T) {
	w := newWorld(t, withOrigin(listen(t, func(c *net.TCPConn) {
		io.WriteString(c, "220 ready\r\n")
		io.Copy(c, c)
	})))
	c := w.call(connectWWW).opened()
	line, err := c.r.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "220 ready\r\n", line)
	said := bytes.Repeat([]byte("\x17\x16 not TLS"), 1000)
	c.send(string(said))
	c.CloseWrite()
	all, err := io.ReadAll(c.r)
	require.NoError(t, err)
	assert.Equal(t, said, all)
}

// Letters that fold into ASCII make another name.
func TestANameOfTLSIsASCII(t *testing.T) {
	target := Target{Name: "kiosk.allowed.test", Port: 443}
	require.True(t, sameName("KIOSK.allowed.test", target))
	assert.False(t, sameName("\u212aiosk.allowed.test", target))
	assert.False(t, sameName("kio\u017fk.allowed.test", target))
}
