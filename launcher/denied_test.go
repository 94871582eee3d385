package launcher

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/witness"
)

func refusedAt(at int, host string, port uint16, code string) egress.Event {
	return egress.Event{Time: time.Unix(int64(at), 0), Host: host, Port: port, Code: code}
}

func TestTheNewestDenialsAreKeptAndCounted(t *testing.T) {
	var d deniedRing
	d.add(refusedAt(1, "a.test", 443, egress.CodeNotListed))
	d.add(refusedAt(2, "b.test", 22, egress.CodePortNotListed))
	d.add(refusedAt(3, "a.test", 443, egress.CodeNotListed))
	d.add(egress.Event{Host: "allowed.test", Verdict: egress.Allow})
	d.add(egress.Event{Code: egress.CodeMalformed})
	assert.Equal(t, []Denial{
		{Host: "a.test", Port: 443, Code: "not-listed", First: time.Unix(1, 0).UTC(), Last: time.Unix(3, 0).UTC(), Count: 2, Allow: "allow a.test"},
		{Host: "b.test", Port: 22, Code: "port-not-listed", First: time.Unix(2, 0).UTC(), Last: time.Unix(2, 0).UTC(), Count: 1, Allow: "allow b.test"},
	}, d.newest(remedy))
}

func TestWhatAKernelIsRefusedIsBoundedAndFitsAReply(t *testing.T) {
	var d deniedRing
	for i := range 1000 {
		e := refusedAt(i, fmt.Sprintf("%d%s", i, strings.Repeat(".x", 125)), 65535, egress.CodePortNotListed)
		e.Rule = strings.Repeat("r", 260)
		d.add(e)
		d.add(refusedAt(i, strings.Repeat("\x1b<", 1000), 1, egress.CodeNumericHost))
	}
	list := d.newest(remedy)
	require.Len(t, list, deniedMost)
	assert.Equal(t, 1000, list[0].Count)
	assert.NotContains(t, list[0].Host, "\x1b")
	assert.True(t, strings.HasPrefix(list[1].Host, "999."))
	b, err := json.Marshal(Reply{Denied: list})
	require.NoError(t, err)
	assert.Less(t, len(b), controlReply)
}

func TestTheDenialsAreInTheAnswerToAStatusAlone(t *testing.T) {
	d, k := stand(t)
	r, err := register(k)
	require.NoError(t, err)
	defer r.remove()
	k.outlet.denied.add(refusedAt(1, "a.test", 443, egress.CodeNotListed))
	all, err := Kernels(d)
	require.NoError(t, err)
	reply, err := all[0].Ask(t.Context(), OpStatus)
	require.NoError(t, err)
	require.Len(t, reply.Denied, 1)
	assert.Equal(t, "a.test", reply.Denied[0].Host)
	reply, _ = all[0].Ask(t.Context(), "fly")
	assert.Empty(t, reply.Denied)
}

func remedy(e egress.Event) string {
	if e.Code == egress.CodeInwardAddress {
		return ""
	}
	return "allow " + e.Host
}

func TestAFloodOfRefusalsDoesNotWorkOutALineForEach(t *testing.T) {
	var s sparing
	passed := 0
	for i := range 10_000 {
		if s.passes(time.Unix(1, int64(i)*int64(time.Millisecond))) {
			passed++
		}
	}
	assert.Equal(t, 10*linesASecond, passed, "in ten seconds")
}

func TestARefusalIsToldAsWhatIsKnownOfIt(t *testing.T) {
	_, k := stand(t)
	var said witness.Output
	k.err = newOutput(&said, newTail(0))
	tell := k.denials()
	for _, e := range []egress.Event{
		refusedAt(1, "a.test", 443, egress.CodeNotListed), refusedAt(1, "2606:4700::1", 443, egress.CodeAddressLiteral),
		refusedAt(1, "127.1", 0, egress.CodeNumericHost), refusedAt(1, "", 0, egress.CodeMalformed), refusedAt(1, "", 0, egress.CodeHeadTimeout),
	} {
		tell(e)
		tell(e)
	}
	k.err.Close()
	for _, want := range []string{"refused a.test:443 (not-listed)", "refused [2606:4700::1]:443 (address-literal)", "refused 127.1 (numeric-host)", "refused a request that names no host (malformed)", "refused a request that names no host (head-timeout)"} {
		assert.Contains(t, said.String(), "kernel-launch: "+want)
	}
	assert.Equal(t, 5, strings.Count(said.String(), "refused"), "once for each host, and for each reason")
}
