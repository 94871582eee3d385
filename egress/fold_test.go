package egress

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func passed(host, rule string, at time.Time) Event {
	return Event{Time: at, Method: "CONNECT", Host: host, Port: 443, Verdict: Allow, Code: CodeAllowed, Rule: rule, Sent: 10, End: EndClosed}
}

// TestADaysFloodLeavesWhatCameBefore: names that are always new, each as long
// as the log takes, for a whole day.
func TestADaysFloodLeavesWhatCameBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path}
	at := time.Now()
	a.Record(denied("evidence.test", at))
	below := strings.Repeat("."+strings.Repeat("a", 59), 3) + ".example.org"
	const hosts = 300
	for minute := range 24 * 60 {
		for i := range hosts {
			e := denied(fmt.Sprintf("h%d-%d%s", minute, i, below), at.Add(time.Duration(minute)*time.Minute))
			e.Method = strings.Repeat("M", maxName)
			for range 1 + i%2 {
				a.Record(e)
			}
		}
	}
	require.NoError(t, a.Close())
	require.FileExists(t, path+".1", "the control: it is a flood")
	r := &LogReader{Path: path}
	defer r.Close()
	found, told := false, 0
	require.NoError(t, r.Read(func(e Entry) {
		found = found || e.Host == "evidence.test"
		told += max(e.Repeated, 1)
	}))
	assert.True(t, found)
	assert.Equal(t, 1+24*60*hosts*3/2, told, "none is forgotten")
}

// TestALargeUploadIsALineAmongAFlood: neither many hosts of one rule nor many
// connections to the same one hide it.
func TestALargeUploadIsALineAmongAFlood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path}
	at := time.Now()
	for i := range 2000 {
		a.Record(passed(fmt.Sprintf("h%d.example.org", i), ".example.org", at))
		a.Record(passed("www.other.org", "www.other.org", at))
		a.Record(passed(fmt.Sprintf("h%d.third.org", i), ".third.org", at))
	}
	large := passed("drop.example.org", ".example.org", at)
	large.Sent = ownLine
	a.Record(large)
	require.NoError(t, a.Close())
	rules := map[string]int{}
	sent, own := int64(0), 0
	for _, e := range entries(t, path) {
		rules[e.Rule] += max(e.Repeated, 1)
		sent += e.Sent
		if e.Host == "drop.example.org" && e.Repeated == 0 {
			own++
		}
	}
	assert.Equal(t, 1, own)
	assert.Equal(t, map[string]int{".example.org": 2001, "www.other.org": 2000, ".third.org": 2000}, rules, "the rule that let them through is kept")
	assert.EqualValues(t, ownLine+60_000, sent)
}

func TestASumLeavesOutWhatDiffers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path}
	at := time.Now()
	e := passed("www.example.org", "www.example.org", at)
	e.Addresses, e.DNS, e.Dial = []netip.Addr{publicAddr}, time.Millisecond, time.Millisecond
	for range foldAfterAllowed + 1 {
		a.Record(e)
	}
	e.Method, e.Rule, e.End, e.Via, e.Addresses = "GET", ".example.org", EndUpstream, "proxy.test:3128", []netip.Addr{netip.MustParseAddr("192.0.2.81")}
	a.Record(e)
	require.NoError(t, a.Close())
	all := entries(t, path)
	sum := all[len(all)-1]
	assert.Equal(t, 2, sum.Repeated)
	assert.Equal(t, Entry{
		Time: sum.Time, Host: "www.example.org", Port: 443, Verdict: Allow, Code: CodeAllowed, DNS: 1, Dial: 1, Sent: 20, Repeated: 2, Until: sum.Until,
	}, sum)
}

// TestAnAnswerOfManyAddressesIsALineThatIsRead: whoever is allowed to be reached
// under a name of their own decides how long that answer is.
func TestAnAnswerOfManyAddressesIsALineThatIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path}
	e := passed("drop.example.org", ".example.org", time.Now())
	for i := range 4000 {
		e.Addresses = append(e.Addresses, netip.MustParseAddr(fmt.Sprintf("2606:4700:aaaa:bbbb:cccc:dddd:eeee:%x", i+0x1000)))
	}
	inward := netip.MustParseAddr("10.0.0.1")
	e.Addresses = append(e.Addresses, inward)
	a.Record(e)
	require.NoError(t, a.Close())
	r := &LogReader{Path: path}
	defer r.Close()
	var got []Entry
	require.NoError(t, r.Read(func(e Entry) { got = append(got, e) }))
	require.Len(t, got, 1)
	assert.Len(t, got[0].Addresses, addressesMost)
	assert.Contains(t, got[0].Addresses, inward, "what explains a refusal is not left out")
	assert.Len(t, e.Addresses, 4001, "the event is its owner's")
}

// A clock that was ahead and is put right leaves windows that would be over
// tomorrow.
func TestAClockThatIsSetBackSilencesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path}
	defer a.Close()
	now := time.Now()
	a.Record(denied("early.test", now.Add(24*time.Hour)))
	for range 2 * foldAfterDenied {
		a.Record(denied("late.test", now))
	}
	a.expire() // as its timer does
	assert.Len(t, entries(t, path), 1+foldAfterDenied+1, "the sum is written")
	a.Record(denied("late.test", now.Add(time.Second)))
	assert.Len(t, entries(t, path), 1+foldAfterDenied+1+1, "a new window has begun")
}

func TestAFloodOfUploadsDoesNotRotateTheLogAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path, MaxSize: 64 << 10, Keep: 2}
	defer a.Close()
	now := time.Now()
	a.Record(denied("evidence.test", now))
	for i := range 5_000 {
		e := passed(fmt.Sprintf("h%d.drop.test", i), ".drop.test", now)
		e.Sent = ownLine
		a.Record(e)
	}
	found := false
	require.NoError(t, (&LogReader{Path: path}).Read(func(e Entry) { found = found || e.Host == "evidence.test" }))
	assert.True(t, found)
}
