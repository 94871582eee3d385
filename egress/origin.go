package egress

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// origin is a connection of a transport: it ends with the proxy, and a read
// or write that moves nothing for the idle time ends it too.
type origin struct {
	net.Conn
	at   netip.AddrPort // as trip.at
	idle time.Duration
	stop func() bool
}

func newOrigin(ctx context.Context, conn net.Conn, idle time.Duration) *origin {
	return &origin{Conn: conn, idle: idle, stop: context.AfterFunc(ctx, func() { conn.Close() })}
}

func (o *origin) Read(p []byte) (int, error) {
	if err := o.SetReadDeadline(time.Now().Add(o.idle)); err != nil {
		return 0, err
	}
	return o.Conn.Read(p)
}

func (o *origin) Write(p []byte) (int, error) {
	if err := o.SetWriteDeadline(time.Now().Add(o.idle)); err != nil {
		return 0, err
	}
	return o.Conn.Write(p)
}

func (o *origin) Close() error {
	o.stop()
	return o.Conn.Close()
}
