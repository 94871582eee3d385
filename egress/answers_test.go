package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnAnswerServesForAMoment(t *testing.T) {
	resolver, names := nameServerOf(t, map[string][]netip.Addr{"a.test.": addrs("192.0.2.80")})
	a := &answers{resolver: resolver}
	look := func() {
		addrs, err := a.LookupNetIP(t.Context(), "ip", "a.test.")
		require.NoError(t, err)
		require.Equal(t, []netip.Addr{netip.MustParseAddr("192.0.2.80")}, addrs)
	}
	look()
	once := len(names.questions())
	require.Positive(t, once)
	look()
	assert.Len(t, names.questions(), once)

	k := a.kept["a.test."]
	k.until = k.until.Add(-answerTime)
	a.kept["a.test."] = k
	look()
	assert.Len(t, names.questions(), 2*once)

	a.forget("a.test.")
	look()
	assert.Len(t, names.questions(), 3*once)
}

func TestAFaultIsNotRemembered(t *testing.T) {
	resolver, names := nameServerOf(t, nil)
	a := &answers{resolver: resolver}
	for range 2 {
		_, err := a.LookupNetIP(t.Context(), "ip", "a.test.")
		require.Error(t, err)
		require.Empty(t, a.kept)
	}
	assert.NotEmpty(t, names.questions())
}

func TestAnswersAreFew(t *testing.T) {
	a := &answers{}
	for i := range 3 * answersMax {
		a.keep(fmt.Sprint(i, ".test."), []netip.Addr{publicAddr})
	}
	assert.LessOrEqual(t, len(a.kept), answersMax)
	assert.Contains(t, a.kept, fmt.Sprint(3*answersMax-1, ".test."))
}

// A remembered answer is screened by the rules of the moment, and a host that
// cannot be reached is looked up again.
func TestARememberedAnswerIsScreenedAndForgotten(t *testing.T) {
	resolver, names := nameServerOf(t, map[string][]netip.Addr{"allowed.test.": addrs("10.1.2.3")})
	rules := mustRules("allowed.test")
	inward := mustRules("allowed.test")
	exception, err := ParseInward("allowed.test", "10.1.0.0/16")
	require.NoError(t, err)
	inward.Inward = []Inward{exception}
	current := inward
	p := &Proxy{
		Rules: func() (*Rules, error) { return current, nil },
		Dial:  func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed },
	}
	p.names.resolver = resolver
	target := Target{Name: "allowed.test", Port: 443}
	require.Equal(t, Allow, p.Check(t.Context(), target).Verdict)
	once := len(names.questions())

	current = rules
	rep := p.Check(t.Context(), target)
	assert.Equal(t, CodeInwardAddress, rep.Code)
	assert.Len(t, names.questions(), once)

	current = inward
	trip, refusal := p.judge(target)
	require.Nil(t, refusal)
	_, err = p.reach(t.Context(), trip, nil)
	require.Error(t, err)
	assert.Empty(t, p.names.kept)
}
