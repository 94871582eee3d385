package egress

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func entries(t *testing.T, path string) []Entry {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var all []Entry
	for s := bufio.NewScanner(f); s.Scan(); {
		var line struct {
			Entry
			Verdict string `json:"verdict"`
		}
		require.NoError(t, json.Unmarshal(s.Bytes(), &line), s.Text())
		if line.Verdict == "allow" {
			line.Entry.Verdict = Allow
		}
		all = append(all, line.Entry)
	}
	return all
}

func denied(host string, at time.Time) Event {
	return Event{Time: at, Method: "CONNECT", Host: host, Port: 443, Code: CodeNotListed, End: EndRefused}
}

func TestAnAuditLineSaysWhoWentWhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path, Kernel: "a1b2", Environment: "study"}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a.Record(Event{
		Time: at, Method: "CONNECT", Host: "www.allowed.test", Port: 443, Verdict: Allow, Code: CodeAllowed, Rule: ".allowed.test",
		Addresses: []netip.Addr{publicAddr}, DNS: 1500 * time.Microsecond, Dial: 20 * time.Millisecond, Sent: 10, Received: 2000, End: EndClosed,
	})
	require.NoError(t, a.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.JSONEq(t, `{"time":"2026-03-01T12:00:00Z","kernel":"a1b2","environment":"study","method":"CONNECT","host":"www.allowed.test","port":443,
		"verdict":"allow","code":"allowed","rule":".allowed.test","addresses":["192.0.2.80"],"dns_ms":1.5,"dial_ms":20,"sent":10,"received":2000,"end":"closed"}`, string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestRepeatedDenialsAreSummedUpAndCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path}
	at := time.Now()
	a.Record(denied("first.test", at))
	for i := range 10_000 {
		a.Record(denied("flood.test", at.Add(time.Duration(i)*time.Millisecond)))
	}
	a.Record(denied("last.test", at))
	require.NoError(t, a.Close())
	all := entries(t, path)
	require.Len(t, all, 1+foldAfterDenied+1+1)
	assert.Equal(t, "first.test", all[0].Host)
	sum := all[len(all)-1]
	assert.Equal(t, "flood.test", sum.Host)
	assert.Equal(t, 10_000-foldAfterDenied, sum.Repeated)
	assert.Equal(t, at.Add(9999*time.Millisecond).UTC(), sum.Until.UTC())
}

func TestAFloodOfManyHostsIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path}
	at := time.Now()
	const hosts = 50_000
	for i := range hosts {
		a.Record(denied(fmt.Sprintf("h%d.test", i), at))
	}
	require.NoError(t, a.Close())
	all := entries(t, path)
	assert.LessOrEqual(t, len(all), foldKeys+foldAfterDenied+1)
	told := 0
	for _, e := range all {
		told += max(e.Repeated, 1)
	}
	assert.Equal(t, hosts, told, "none is forgotten")
}

func TestAWindowThatIsOverIsWrittenAndTheNextBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path}
	at := time.Now().Add(-time.Hour)
	for range foldAfterDenied + 5 {
		a.Record(denied("x.test", at))
	}
	a.Record(denied("x.test", at.Add(foldTime)))
	all := entries(t, path)
	require.Len(t, all, foldAfterDenied+2)
	assert.Equal(t, 5, all[foldAfterDenied].Repeated)
	assert.Zero(t, all[foldAfterDenied+1].Repeated)
	require.NoError(t, a.Close())
}

func TestOnlyDenialsWhenAskedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path, Denied: true}
	a.Record(Event{Verdict: Allow, Host: "www.allowed.test"})
	a.Record(denied("x.test", time.Now()))
	require.NoError(t, a.Close())
	require.Len(t, entries(t, path), 1)
}

// TestSeveralWritersShareOneLog: every line of every writer is there once
// and whole, across rotations.
func TestSeveralWritersShareOneLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	const writers, each = 4, 500
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			a := &Audit{Path: path, Kernel: fmt.Sprint(w), MaxSize: 20_000, Keep: 1000}
			for i := range each {
				a.Record(denied(fmt.Sprintf("h%d.test", i%200), time.Now().Add(time.Duration(i)*time.Hour)))
			}
			a.Close()
		})
	}
	wg.Wait()
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	counts := map[string]int{}
	for _, f := range files {
		if strings.HasSuffix(f, ".lock") {
			continue
		}
		for _, e := range entries(t, f) {
			counts[e.Kernel]++
		}
	}
	for w := range writers {
		assert.Equal(t, each, counts[fmt.Sprint(w)])
	}
	assert.Greater(t, len(files), 5)
}

func TestOldLogsGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path, MaxSize: 1000, Keep: 2}
	for i := range 200 {
		a.Record(denied(fmt.Sprintf("h%d.test", i), time.Now()))
	}
	require.NoError(t, a.Close())
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{path, path + ".1", path + ".2", path + ".lock"}, files)
	for _, f := range files {
		info, err := os.Stat(f)
		require.NoError(t, err)
		assert.LessOrEqual(t, info.Size(), int64(1000))
	}
}

func TestALogThatCannotBeWrittenIsToldOnce(t *testing.T) {
	dir := t.TempDir()
	var told []error
	a := &Audit{Path: filepath.Join(dir, "none", "egress.jsonl"), Failed: func(err error) { told = append(told, err) }}
	a.Record(denied("a.test", time.Now()))
	a.Record(denied("b.test", time.Now()))
	require.Len(t, told, 1)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "none"), 0o700))
	a.Record(denied("c.test", time.Now()))
	require.Len(t, entries(t, a.Path), 1)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "none")))
	require.NoError(t, a.Close())
}

func TestALinkInThePlaceOfTheLogIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	other, path := filepath.Join(dir, "other"), filepath.Join(dir, "egress.jsonl")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, os.Symlink(other, path))
	var told error
	a := &Audit{Path: path, Failed: func(err error) { told = err }}
	a.Record(denied("a.test", time.Now()))
	require.Error(t, told)
	text, err := os.ReadFile(other)
	require.NoError(t, err)
	assert.Empty(t, text)
}
