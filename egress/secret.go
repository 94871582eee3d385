package egress

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// secretUser is the user name that goes with a secret. It says nothing; the
// scheme wants one.
const secretUser = "kernel-launch"

// NewSecret makes a secret for a proxy on a loopback that other programs
// share, as on macOS and Windows: 128 random bits, in 32 hexadecimal digits.
func NewSecret() string {
	b := make([]byte, 16)
	rand.Read(b) // which does not fail: without randomness it ends the program
	return hex.EncodeToString(b)
}

// WithSecret gives the address of a proxy that wants a secret, as USER:SECRET@
// and addr, for ClientEnvironment.
func WithSecret(addr, secret string) string { return secretUser + ":" + secret + "@" + addr }

func noSecret() *refusal {
	return &refusal{status: 407, code: CodeNoSecret, what: "this proxy serves one kernel, and the request does not carry its secret"}
}

// knows is true when the request carries the proxy's secret, or there is none.
func (p *Proxy) knows(h *head) bool {
	if p.Secret == "" {
		return true
	}
	for _, f := range h.fields {
		if f.name == "proxy-authorization" {
			return p.opens(f.value)
		}
	}
	return false
}

func (p *Proxy) opens(value string) bool {
	scheme, coded, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return false
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(coded))
	return err == nil && subtle.ConstantTimeCompare(text, []byte(secretUser+":"+p.Secret)) == 1
}
