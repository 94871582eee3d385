package sandbox

import "fmt"

// Network says which network a command sees. The empty value is NetworkNone.
type Network string

// The three networks. None and allowlist are the same walls: in the second a proxy of the host listens inside.
const (
	NetworkNone      Network = "none"
	NetworkAllowlist Network = "allowlist"
	NetworkHost      Network = "host"
)

// NetworkError is a word that names no network.
type NetworkError struct{ Value string }

func (e *NetworkError) Error() string {
	return fmt.Sprintf("network %q is none of none, allowlist, host", e.Value)
}

// ParseNetwork takes exactly one of the three words: there are no aliases, so that a slip cannot open the network.
func ParseNetwork(s string) (Network, error) {
	n := Network(s)
	if !n.valid() {
		return "", &NetworkError{Value: s}
	}
	return n, nil
}

func (n Network) valid() bool {
	return n == NetworkNone || n == NetworkAllowlist || n == NetworkHost
}

// String says what the network is, as a person would.
func (n Network) String() string {
	switch n {
	case NetworkNone, "":
		return "no network"
	case NetworkAllowlist:
		return "no network but the hosts on the allowlist, through the proxy"
	case NetworkHost:
		return "the host's network, unfiltered"
	}
	return "network " + string(n)
}
