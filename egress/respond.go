package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// respond writes the answer to the client and says whether the connection
// could serve another request, and how the exchange ended. last: no other
// request can follow.
func (c *client) respond(x *exchange, resp *http.Response, last bool) (keep bool, end string) {
	f := frameOf(x.head, resp)
	keep = !last && !x.head.close && f != untilEOF && c.ctx.Err() == nil
	w := bufio.NewWriterSize(&timedWriter{c.conn, c.b.Idle}, 4<<10)
	writeHead(w, resp, f, keep)
	if err := w.Flush(); err != nil {
		return false, EndClient
	}
	n, readErr, writeErr := c.copyAnswer(f, resp.Body)
	x.ev.Received = n
	switch {
	case writeErr != nil:
		return false, EndClient
	case readErr != nil: // closing without an end tells the client that it is cut short
		return false, EndUpstream
	}
	return keep, EndClosed
}

// frame is how the end of an answer is marked.
type frame uint8

const (
	noBody frame = iota
	byLength
	byChunks
	untilEOF
)

func frameOf(h *head, resp *http.Response) frame {
	switch {
	case h.method == http.MethodHead, resp.StatusCode == 204, resp.StatusCode == 304:
		return noBody
	case resp.ContentLength >= 0:
		return byLength
	case h.minor == 1:
		return byChunks
	}
	return untilEOF
}

func writeHead(w io.Writer, resp *http.Response, f frame, keep bool) {
	header := clientHeader(resp.Header)
	switch {
	case f == byLength:
		header.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	case f == byChunks:
		header.Set("Transfer-Encoding", "chunked")
	case f == noBody && resp.ContentLength > 0: // of the body that HEAD or 304 leaves out
		header.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	}
	if !keep {
		header.Set("Connection", "close")
	}
	fmt.Fprintf(w, "HTTP/1.1 %03d %s\r\n", resp.StatusCode, phraseOf(resp))
	header.Write(w)
	io.WriteString(w, "\r\n")
}

func phraseOf(resp *http.Response) string {
	_, p, _ := strings.Cut(resp.Status, " ")
	if p == "" {
		return http.StatusText(resp.StatusCode)
	}
	return phrase(p)
}

// copyAnswer passes each piece on as it comes: answers are streams, too.
func (c *client) copyAnswer(f frame, src io.Reader) (n int64, readErr, writeErr error) {
	if f == noBody {
		return 0, nil, nil
	}
	in := &plainSource{Reader: src}
	for {
		buf, k, err := in.next()
		if k > 0 {
			n += int64(k)
			writeErr = c.writePiece(f, (*buf)[:k])
		}
		putBuffer(buf)
		if writeErr != nil {
			return n, nil, writeErr
		}
		switch {
		case err == io.EOF && f == byChunks:
			_, werr := io.WriteString(&timedWriter{c.conn, c.b.Idle}, "0\r\n\r\n")
			return n, nil, werr
		case err == io.EOF:
			return n, nil, nil
		case err != nil:
			return n, err, nil
		}
	}
}

func (c *client) writePiece(f frame, p []byte) error {
	c.conn.SetWriteDeadline(time.Now().Add(c.b.Idle))
	if f != byChunks {
		_, err := c.conn.Write(p)
		return err
	}
	pieces := net.Buffers{[]byte(strconv.FormatInt(int64(len(p)), 16) + "\r\n"), p, []byte("\r\n")}
	_, err := pieces.WriteTo(c.conn)
	return err
}

// timedWriter gives each write the idle time.
type timedWriter struct {
	conn net.Conn
	idle time.Duration
}

func (t *timedWriter) Write(p []byte) (int, error) {
	t.conn.SetWriteDeadline(time.Now().Add(t.idle))
	return t.conn.Write(p)
}
