package egress

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

const (
	// drainTime is how long a refused client may go on sending: closing at
	// once would reset the connection and lose the answer.
	drainTime = time.Second
	maxPhrase = 200
)

// refusal is an answer that ends the connection.
type refusal struct {
	status           int
	code, what, rule string
	host             string
	port             uint16
	allow            string // the line that would allow it
}

func (r *refusal) Error() string { return r.what }

// refused makes a refusal of a decision that is no Allow. The words name the
// host, because clients show them and nothing else.
func refused(t Target, d Decision) *refusal {
	host := t.Host()
	words := map[string]string{
		CodeNotListed:        host + " is not on the allowlist",
		CodePortNotListed:    fmt.Sprintf("%s is allowed, its port %d is not", host, t.Port),
		CodeDenyRule:         fmt.Sprintf("%s is denied by the rule %s", host, d.Rule),
		CodeAddressLiteral:   host + " is an address, and no rule is that address",
		CodeLocalName:        host + " is a name for the machine itself, which is never reached through the proxy",
		CodeMetadataName:     host + " is a name of a cloud's metadata service, which hands out the machine's credentials",
		CodePolicyUnreadable: host + " is denied because the rules cannot be read",
	}
	return &refusal{status: 403, code: d.Code, what: words[d.Code], rule: d.Rule, host: host, port: t.Port}
}

// refuse writes the answer, drains for a moment and reports. The connection
// is closed by its owner.
func (c *client) refuse(x *exchange, r *refusal) {
	end := EndRefused
	if r.status == 502 || r.status == 504 {
		end = EndFailed
	}
	if r.host != "" { // which may be another than the one that was let pass
		x.ev.Host, x.ev.Port = r.host, r.port
	}
	x.ev.Verdict, x.ev.Rule = Deny, r.rule
	if end == EndFailed { // the policy let it pass, the way out did not
		x.ev.Verdict = Allow
	}
	c.report(x, r.code, end)
	if r.status == 403 && c.p.Remedy != nil {
		r.allow = c.p.Remedy(x.ev)
	}
	c.conn.SetWriteDeadline(time.Now().Add(drainTime))
	if _, err := c.conn.Write(r.response(x.head.method)); err == nil {
		drain(c.conn)
	}
}

func drain(conn net.Conn) {
	closeWrite(conn)
	conn.SetReadDeadline(time.Now().Add(drainTime))
	io.Copy(io.Discard, onlyReader{conn})
}

// onlyReader keeps io.Copy from asking the connection for a faster way.
type onlyReader struct{ io.Reader }

func (r *refusal) response(method string) []byte {
	body := r.body()
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", r.status, phrase(r.what))
	if r.status == 403 {
		fmt.Fprintf(&b, "X-Kernel-Launch-Deny: code=%s; host=%s; rule=%s\r\n", r.code, or0(r.host), or0(r.rule))
	}
	if r.status == 503 {
		b.WriteString("Retry-After: 1\r\n")
	}
	if r.status == 407 {
		b.WriteString("Proxy-Authenticate: Basic realm=\"kernel-launch\"\r\n")
	}
	if r.status == 405 {
		b.WriteString("Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, CONNECT\r\n")
	}
	fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n", len(body))
	if method != http.MethodHead {
		b.Write(body)
	}
	return []byte(b.String())
}

func (r *refusal) body() []byte {
	data, err := json.Marshal(struct {
		Schema int    `json:"schema"`
		Code   string `json:"code"`
		Error  string `json:"error"`
		Host   string `json:"host,omitempty"`
		Port   uint16 `json:"port,omitempty"`
		Rule   string `json:"rule,omitempty"`
		Allow  string `json:"allow,omitempty"`
	}{1, r.code, plain.Line(r.what, maxPhrase), r.host, r.port, r.rule, r.allow})
	if err != nil {
		return nil
	}
	return append(data, '\n')
}

func or0(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// phrase makes a reason phrase: one bounded line of printable ASCII.
func phrase(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, plain.Line(s, maxPhrase))
	if s == "" {
		return "Refused"
	}
	return s
}

func closeWrite(conn net.Conn) error {
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}
