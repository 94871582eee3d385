package egress

import (
	"net/netip"
	"time"
)

// Event is what happened to one tunnel or one plain request. A refusal is
// reported when it is decided, everything else when it is over.
type Event struct {
	Time      time.Time // when the head had been read
	Method    string    // empty when no request line could be read
	Host      string    // empty when the target could not be read
	Port      uint16
	Verdict   Verdict       // Allow, too, when the host could then not be reached
	Code      string        // see the Code constants
	Rule      string        // the one that decided, or empty
	Addresses []netip.Addr  // what the name resolved to, or the pin
	Via       string        // HOST:PORT of the proxy in front, which chose the address
	DNS, Dial time.Duration // what the look-up and the connecting took; zero when there was none
	Sent      int64         // body or tunnel bytes from the client to the host
	Received  int64         // from the host to the client
	End       string        // see the End constants
}

// Where is HOST:PORT as far as it is known: a number that is no address has no
// port, and what cannot be read has neither.
func (e Event) Where() string {
	if e.Port == 0 {
		return e.Host
	}
	return Target{Name: e.Host, Port: e.Port}.String()
}

// How a tunnel or a request ended.
const (
	EndRefused  = "refused"  // by policy, or as a request
	EndFailed   = "failed"   // the host could not be reached or broke off
	EndClosed   = "closed"   // both sides were done
	EndClient   = "client"   // the client broke off
	EndUpstream = "upstream" // the host broke off
	EndIdle     = "idle"     // Bounds.Idle passed without a byte
	EndDenied   = "denied"   // the rules no longer allow it, see Proxy.Review
	EndStopped  = "stopped"  // the proxy was closed
)

// Report is what would happen to a target, for a person who asks.
type Report struct {
	Host      string       `json:"host"`
	Port      uint16       `json:"port"` // the one that was judged, see Proxy.Check
	Verdict   Verdict      `json:"verdict"`
	Code      string       `json:"code"`
	Rule      string       `json:"rule"`          // the one that decided, or empty
	Addresses []netip.Addr `json:"addresses"`     // what an allowed name resolves to, never nil
	Via       string       `json:"via,omitempty"` // HOST:PORT of the proxy in front, which chooses the address
	// Credentials are the headers that plain requests to the host get. A client that speaks TLS itself, through CONNECT, goes without.
	Credentials []string `json:"credentials,omitempty"`
}
