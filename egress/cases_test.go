package egress

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/cases"
)

// oneCase is a row of testdata/cases/egress.json. What depends on input.kind stays raw.
type oneCase struct {
	ID    string
	Input struct {
		Kind, Secret, Preset string
		Allow, Hosts, Rules  []string
		Client               []string
		Inward               map[string][]string `json:"allow_internal"`
		Cases                [][2]string
		Requests             json.RawMessage
		Answers              [][]netip.Addr `json:"answers_by_call"`
		Variants             []struct {
			Answers [][]netip.Addr `json:"answers_by_call"`
		}
		Rule struct{ Host, Header, Secret string }
	}
	Expected struct {
		Verdict  json.RawMessage
		Variants []string
		Reason   []string
		Dials    []string
		Lookups  int
		TLSName  string   `json:"tls_name"`
		Body     []string `json:"body_names"`
		Python   []string `json:"preset_python"`
		R        []string `json:"preset_r"`
		Logged   struct {
			Host, Verdict string
			Port          uint16
		}
		ReplyHas    string   `json:"reply_has"`
		NeverLogged []string `json:"never_logged"`
	}
}

// TestCases leaves to package launcher what is about a kernel's variables.
func TestCases(t *testing.T) {
	cases.RunSome(t, cases.Runners[oneCase]{
		"allowlist_match":     matchCase,
		"rule_parse":          ruleCase,
		"proxy_targets":       targetsCase,
		"proxy_raw":           rawCase,
		"proxy_raw_keepalive": keptCase,
		"proxy_session":       sessionCase,
		"resolver_script":     rebindCase,
		"resolved_addresses":  addressesCase,
		"broker":              brokerCase,
	}, "egress.json")
}

// allowing is a world with a row's rules.
func allowing(t *testing.T, row oneCase) *world {
	return newWorld(t, func(w *world) { w.rules, w.proxy.Secret = mustRules(row.Input.Allow...), row.Input.Secret })
}

// answerOrTunnel reads an answer, and its body when it is none that opens a tunnel.
func (c *call) answerOrTunnel() (*http.Response, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.r, nil)
	require.NoError(c.t, err)
	if resp.StatusCode == http.StatusOK {
		return resp, ""
	}
	body, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp, string(body)
}

func matchCase(t *testing.T, row oneCase) {
	want := cases.As[[]Verdict](t, row.Expected.Verdict)
	require.Len(t, want, len(row.Input.Hosts))
	rules := mustRules(row.Input.Allow...)
	for i, host := range row.Input.Hosts {
		got := Deny
		if target, err := ParseAuthority(host + ":443"); err == nil {
			got = rules.Decide(target).Verdict
		}
		assert.Equal(t, want[i], got, host)
	}
}

func ruleCase(t *testing.T, row oneCase) {
	want := cases.As[[]string](t, row.Expected.Verdict)
	require.Len(t, want, len(row.Input.Rules))
	for i, text := range row.Input.Rules {
		rule, err := ParseRule(text)
		switch form, isOK := strings.CutPrefix(want[i], "ok"); {
		case !isOK:
			assert.Error(t, err, text)
		case strings.HasPrefix(form, " as "):
			require.NoError(t, err, text)
			assert.Equal(t, strings.TrimPrefix(form, " as "), rule.String())
		default:
			require.NoError(t, err, text)
			assert.Equal(t, strings.TrimSpace(text), rule.String())
		}
	}
}

func targetsCase(t *testing.T, row oneCase) {
	w := allowing(t, row)
	codes := map[string]string{"address literal": CodeAddressLiteral, "numeric host": CodeNumericHost}
	require.Len(t, row.Expected.Reason, len(row.Input.Hosts))
	for i, host := range row.Input.Hosts {
		w.call(fmt.Sprintf("CONNECT %s:443 HTTP/1.1\r\n\r\n", host)).answer()
		e := w.waitEvent(i)
		assert.Equal(t, codes[row.Expected.Reason[i]], e.Code, host)
		assert.Equal(t, Deny, e.Verdict, host)
	}
	assert.Empty(t, w.looked)
	assert.Empty(t, w.dialled)
}

func rawCase(t *testing.T, row oneCase) {
	w := allowing(t, row)
	want, requests := cases.As[[]int](t, row.Expected.Verdict), cases.As[[]string](t, row.Input.Requests)
	require.Len(t, want, len(requests))
	for i, raw := range requests {
		c := w.call(raw)
		if want[i] == 200 {
			c.opened()
			continue
		}
		resp, _ := c.answer()
		assert.Equal(t, want[i], resp.StatusCode, "%q", raw)
		if row.Expected.ReplyHas != "" {
			assert.NotEmpty(t, resp.Header.Get(row.Expected.ReplyHas))
		}
	}
	if row.Expected.Dials != nil {
		assert.Empty(t, row.Expected.Dials)
		assert.Empty(t, w.looked)
		assert.Empty(t, w.dialled)
	}
}

// keptCase sends its requests on one connection, as far as that goes, and the rest on new ones.
func keptCase(t *testing.T, row oneCase) {
	w := allowing(t, row)
	want, requests := cases.As[[]any](t, row.Expected.Verdict), cases.As[[]string](t, row.Input.Requests)
	require.Len(t, want, len(requests))
	c := w.call("")
	for i, raw := range requests {
		c.send(raw)
		resp, _ := c.answer()
		if want[i] == "forwarded" {
			assert.Equal(t, 200, resp.StatusCode)
			continue
		}
		assert.EqualValues(t, want[i], resp.StatusCode, "%q", raw)
		_, err := c.r.ReadByte()
		assert.Error(t, err, "nothing more is read from a connection that was refused something")
		c = w.call("")
	}
	var names []string
	for _, name := range w.looked {
		names = append(names, strings.TrimSuffix(name, "."))
	}
	assert.Equal(t, row.Expected.Dials, names)
	assert.Len(t, w.dialled, len(row.Expected.Dials))
	assert.Len(t, w.seen, 1, "what is ambiguous is not passed on either")
}

func sessionCase(t *testing.T, row oneCase) {
	w := allowing(t, row)
	w.proxy.Remedy = func(e Event) string { return "kernel-launch egress allow " + e.Host }
	want := cases.As[[]any](t, row.Expected.Verdict)
	require.Len(t, want, len(row.Input.Client))
	for i, line := range row.Input.Client {
		resp, body := w.call(line + " HTTP/1.1\r\n\r\n").answerOrTunnel()
		assert.Equal(t, fmt.Sprint(want[i]), fmt.Sprint(resp.StatusCode), line)
		if resp.StatusCode == 403 {
			for _, part := range row.Expected.Body {
				assert.Contains(t, body, part)
			}
			e := w.waitEvent(0) // the tunnel before it is still open
			assert.Equal(t, row.Expected.Logged.Host, e.Host)
			assert.Equal(t, row.Expected.Logged.Port, e.Port)
			assert.Equal(t, row.Expected.Logged.Verdict, e.Verdict.String())
		}
	}
	for group, hosts := range map[string][]string{row.Input.Preset: row.Expected.Python, "r": row.Expected.R} {
		rules, _ := Group(group)
		require.NotEmpty(t, hosts)
		for _, host := range hosts {
			assert.Equal(t, Allow, (&Rules{Allow: rules}).Decide(mustTarget(t, host+":443")).Verdict, host)
		}
	}
}

// rebindCase answers each look-up and, once an address is dialled, any further one with the next answer.
func rebindCase(t *testing.T, row oneCase) {
	name := row.Input.Allow[0]
	w, _ := secure(t)
	w.rules = mustRules(row.Input.Allow...)
	w.answers[name+"."] = row.Input.Answers[0]
	inner := w.proxy.Dial
	w.proxy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		w.mu.Lock()
		w.answers[name+"."] = row.Input.Answers[1]
		w.mu.Unlock()
		return inner(ctx, network, address)
	}
	conn := w.call("CONNECT " + name + ":443 HTTP/1.1\r\n\r\n").opened()
	require.NoError(t, ask(w, conn, row.Expected.TLSName))
	assert.Len(t, w.looked, row.Expected.Lookups)
	assert.Equal(t, []string{row.Input.Answers[0][0].String() + ":443"}, w.dialled)

	statuses := []int{403, 502}
	phrases := []string{"leads to", "no address"}
	require.Len(t, row.Expected.Variants, len(row.Input.Variants))
	for i, v := range row.Input.Variants {
		w := allowing(t, row)
		w.answers[name+"."] = v.Answers[0]
		resp, _ := w.call("CONNECT " + name + ":443 HTTP/1.1\r\n\r\n").answer()
		assert.Equal(t, statuses[i], resp.StatusCode, row.Expected.Variants[i])
		assert.Contains(t, resp.Status, phrases[i], row.Expected.Variants[i])
		assert.Empty(t, w.dialled)
	}
}

func addressesCase(t *testing.T, row oneCase) {
	want := cases.As[[]Verdict](t, row.Expected.Verdict)
	require.Len(t, want, len(row.Input.Cases))
	for i, c := range row.Input.Cases {
		w := allowing(t, row)
		for host, prefixes := range row.Input.Inward {
			inward, err := ParseInward(host, prefixes[0])
			require.NoError(t, err)
			w.rules.Inward = append(w.rules.Inward, inward)
		}
		w.answers[c[0]+"."] = addrs(c[1])
		resp, _ := w.call("CONNECT " + c[0] + ":443 HTTP/1.1\r\n\r\n").answerOrTunnel()
		assert.Equal(t, map[Verdict]int{Allow: 200, Deny: 403}[want[i]], resp.StatusCode, c)
		assert.Len(t, w.dialled, map[Verdict]int{Allow: 1}[want[i]], c)
	}
}
