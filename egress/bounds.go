package egress

import "time"

// Bounds limits what one kernel can make the proxy hold or wait for. A zero
// field means the default beside it.
type Bounds struct {
	Connections int           // 256 client connections at once; one more gets 503
	Head        int           // 65536 bytes of request head; more gets 431 (414 in the request line)
	Fields      int           // 200 header fields; more gets 431
	HeadTime    time.Duration // 10s for a whole head, not per byte
	Dial        time.Duration // 30s for look-up and connecting together; then 504
	Idle        time.Duration // 10m without a byte in either direction
}

func (b Bounds) withDefaults() Bounds {
	return Bounds{
		Connections: or(b.Connections, 256),
		Head:        or(b.Head, 64<<10),
		Fields:      or(b.Fields, 200),
		HeadTime:    or(b.HeadTime, 10*time.Second),
		Dial:        or(b.Dial, 30*time.Second),
		Idle:        or(b.Idle, 10*time.Minute),
	}
}

func or[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}
