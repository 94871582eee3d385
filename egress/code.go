package egress

import "fmt"

// Verdict says whether a target may be reached; the zero value is Deny.
type Verdict uint8

// The two verdicts.
const (
	Deny Verdict = iota
	Allow
)

// String is "allow" or "deny", the words that tools see.
func (v Verdict) String() string {
	if v == Allow {
		return "allow"
	}
	return "deny"
}

// MarshalText makes a verdict its word in JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the words that MarshalText writes. Anything else is an
// error and leaves Deny.
func (v *Verdict) UnmarshalText(text []byte) error {
	*v = Deny
	switch string(text) {
	case "allow":
		*v = Allow
	case "deny":
	default:
		return fmt.Errorf("verdict %q is neither allow nor deny", clip(string(text), 20))
	}
	return nil
}

// The codes are the whole vocabulary of Decision, Report, Event and of the
// X-Kernel-Launch-Deny header. Codes are only ever added.
const (
	// Allowed by a rule.
	CodeAllowed = "allowed"
	CodePinned  = "pinned" // allowed, and the address is the operator's

	// Refused by policy: 403.
	CodeNotListed        = "not-listed"        // no rule names the host
	CodePortNotListed    = "port-not-listed"   // a rule names the host, none this port
	CodeDenyRule         = "deny-rule"         // a deny rule names it
	CodeAddressLiteral   = "address-literal"   // an address, and no rule is that address
	CodeNumericHost      = "numeric-host"      // a number that some resolvers take for an address
	CodeLocalName        = "local-name"        // localhost and below: never leaves
	CodeMetadataName     = "metadata-name"     // a cloud's metadata service: never reached
	CodeInwardAddress    = "inward-address"    // the name leads to an address that is not public, or to the proxy itself
	CodePolicyUnreadable = "policy-unreadable" // the rules could not be read
	CodeServerName       = "server-name"       // TLS in the tunnel names another host than the CONNECT

	// Refused as a request: 400, 405, 407, 408, 414, 417, 431, 501, 503.
	CodeMalformed         = "malformed"
	CodeMethodRefused     = "method-refused"
	CodeNoSecret          = "no-secret" // the proxy wants a secret, and the request has another or none
	CodeHeadTimeout       = "head-timeout"
	CodeTargetTooLong     = "target-too-long"
	CodeHeadTooLarge      = "head-too-large"
	CodeExpectation       = "expectation"
	CodeUnsupported       = "unsupported"
	CodeTooManyConnection = "too-many-connections"

	// The way out failed: 502, 504.
	CodeNoAddress     = "no-address"      // the name has no address
	CodeLookupFailed  = "lookup-failed"   // the name server failed
	CodeLookupTimeout = "lookup-timeout"  // the name server did not answer
	CodeDialFailed    = "dial-failed"     // no address took the connection
	CodeDialTimeout   = "dial-timeout"    // none did in time
	CodeUpstream      = "upstream-failed" // the host broke off or spoke no HTTP
	CodeCredential    = "no-credential"   // the header that the host is to get cannot be had
	CodeProxyFailed   = "proxy-failed"    // the proxy in front cannot be reached, or spoke no HTTP
	CodeProxyRefused  = "proxy-refused"   // the proxy in front said no
	CodeClientLeft    = "client-left"     // the client went while the host was dialled
	CodeStopped       = "stopped"         // the proxy was closed, or the rules changed meanwhile
)
