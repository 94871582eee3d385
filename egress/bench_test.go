package egress

import (
	"context"
	"io"
	"net"
	"runtime"
	"testing"
)

// benchProxy serves a proxy whose allowed name leads to a raw origin.
func benchProxy(b *testing.B, origin string) string {
	rules := mustRules("allowed.test")
	p := &Proxy{
		Rules:    func() (*Rules, error) { return rules, nil },
		Resolver: &world{},
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", origin)
		},
		Bounds: Bounds{Connections: 4096},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go p.Serve(l)
	b.Cleanup(func() { p.Close() })
	return l.Addr().String()
}

func rawOrigin(b *testing.B, handle func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); handle(c) }()
		}
	}()
	return l.Addr().String()
}

func openTunnel(b *testing.B, addr string) net.Conn {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	io.WriteString(c, connectAllowed)
	if _, err := io.ReadFull(c, make([]byte, len(established))); err != nil {
		b.Fatal(err)
	}
	return c
}

// Bytes through a tunnel, against the same bytes straight from the origin.
func BenchmarkTunnel(b *testing.B) {
	block := make([]byte, 64<<10)
	origin := rawOrigin(b, func(c net.Conn) {
		for {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	})
	read := func(b *testing.B, c net.Conn) {
		defer c.Close()
		buf := make([]byte, 1<<20)
		b.SetBytes(1 << 20)
		for b.Loop() {
			if _, err := io.ReadFull(c, buf); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("direct", func(b *testing.B) {
		c, err := net.Dial("tcp", origin)
		if err != nil {
			b.Fatal(err)
		}
		read(b, c)
	})
	b.Run("proxy", func(b *testing.B) { read(b, openTunnel(b, benchProxy(b, origin))) })
}

func BenchmarkConnect(b *testing.B) {
	addr := benchProxy(b, rawOrigin(b, func(c net.Conn) { io.Copy(io.Discard, c) }))
	for b.Loop() {
		openTunnel(b, addr).Close()
	}
}

// What a thousand idle tunnels hold, both ends of the test included.
func BenchmarkIdleTunnels(b *testing.B) {
	addr := benchProxy(b, rawOrigin(b, func(c net.Conn) { c.Read(make([]byte, 1)) }))
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		open := make([]net.Conn, 1000)
		for i := range open {
			open[i] = openTunnel(b, addr)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/1000, "B/tunnel")
		for _, c := range open {
			c.Close()
		}
	}
}
