package launcher

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
)

// depot is a server that gives as many bytes of noise as its path says, and
// says what it was given. It knows the hash of each, as it went and as it came.
type depot struct {
	mu    sync.Mutex
	given map[string]string // by method and size
}

func (d *depot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sum := sha256.New()
	size, err := strconv.ParseInt(r.URL.Path[1:], 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Length", r.URL.Path[1:])
		io.CopyN(io.MultiWriter(w, sum), rand.NewChaCha8(sha256.Sum256([]byte(r.URL.Path))), size)
	} else {
		n, _ := io.Copy(sum, r.Body)
		size = n
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.given[fmt.Sprint(r.Method, " ", r.Host, " ", size)] = hex.EncodeToString(sum.Sum(nil))
}

// transfers is a program that carries bytes both ways, by plain requests and
// through tunnels, of a known length and in chunks. It says the hash of each,
// as it came and as it went.
const transfers = `
import hashlib, http.client, os, sys
def through(tunnel):
    c = http.client.HTTPConnection("127.0.0.1", 3128, timeout=120)
    host = ("tunnel" if tunnel else "plain") + ".allowed.test"
    if tunnel: c.set_tunnel(host, 80)
    return c, host, "/" if tunnel else "http://" + host + "/"
def down(tunnel, size):
    c, host, root = through(tunnel)
    c.request("GET", root + str(size))
    r, h, n = c.getresponse(), hashlib.sha256(), 0
    while b := r.read(1 << 18): h.update(b); n += len(b)
    print("GET", host, n, h.hexdigest())
def up(tunnel, size, chunked):
    c, host, root = through(tunnel)
    h, block = hashlib.sha256(), os.urandom(1 << 20)
    def body():
        for at in range(0, size, len(block)):
            b = (at.to_bytes(8, "big") + block[8:])[:size - at]
            h.update(b)
            yield b
    c.request("POST", root + str(size), body(), {} if chunked else {"Content-Length": str(size)}, encode_chunked=chunked)
    c.getresponse().read()
    print("POST", host, size, h.hexdigest())
for size in map(int, sys.argv[1:]):
    for tunnel in (False, True):
        down(tunnel, size)
        up(tunnel, size, chunked=tunnel)
`

// TestBytesThroughTheSandboxAreTheSame: what a program inside sends and gets is, to the byte, what the host gets and sends.
func TestBytesThroughTheSandboxAreTheSame(t *testing.T) {
	d := &depot{given: map[string]string{}}
	server := httptest.NewServer(d)
	defer server.Close()
	cfg := with(func(c *Config) {
		rule, err := egress.ParseRule(".allowed.test")
		require.NoError(t, err)
		pin, err := egress.ParsePin(".allowed.test", server.Listener.Addr().(*net.TCPAddr).String())
		require.NoError(t, err)
		c.Egress.Allow, c.Egress.Pins = append(c.Egress.Allow, rule), append(c.Egress.Pins, pin)
	})
	out, exit := python(t, Spec{Config: cfg}, strings.ReplaceAll(transfers, "sys.argv[1:]", `"8388608 45000001".split()`))
	require.Zero(t, exit.Code, out)
	assert.Len(t, d.given, 8)
	for what, sum := range d.given {
		assert.Contains(t, out, what+" "+sum)
	}
	for _, size := range []string{"8388608", "45000001"} {
		assert.Equal(t, 4, strings.Count(out, " "+size+" "), out)
	}
}
