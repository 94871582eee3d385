//go:build !unix

package egress

import "net"

// wasReset cannot tell here; the limit on dialling ends what it would have.
func wasReset(net.Conn) bool { return false }

func brokeOff(net.Conn) bool { return false }
