//go:build !linux

package launcher

import (
	"io"
	"net"
)

// carryOver copies until from ends.
func carryOver(to, from net.Conn, buf []byte) (n int64, err error) {
	return io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, buf)
}
