package egress

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostsOf reads what is new.
func hostsOf(t *testing.T, r *LogReader) (hosts []string) {
	t.Helper()
	require.NoError(t, r.Read(func(e Entry) { hosts = append(hosts, e.Host) }))
	return hosts
}

func record(a *Audit, hosts ...string) {
	for _, h := range hosts {
		a.Record(Event{Time: time.Now(), Host: h, Port: 443, Code: CodeNotListed, End: EndRefused})
	}
}

func TestALogIsFollowedAcrossRotations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	r := &LogReader{Path: path}
	defer r.Close()
	assert.Empty(t, hostsOf(t, r), "there is none yet")
	a := &Audit{Path: path, MaxSize: 600, Keep: 50}
	defer a.Close()
	record(a, "a.test")
	assert.Equal(t, []string{"a.test"}, hostsOf(t, r))
	assert.Empty(t, hostsOf(t, r))
	var want []string
	for i := range 20 { // three or so a file
		want = append(want, fmt.Sprintf("h%d.test", i))
	}
	record(a, want...)
	require.FileExists(t, path+".3", "the control: it was rotated, more than once")
	assert.Equal(t, want, hostsOf(t, r))

	again := &LogReader{Path: path}
	defer again.Close()
	assert.Equal(t, append([]string{"a.test"}, want...), hostsOf(t, again), "a new reader begins with the oldest")
	require.NoError(t, os.Rename(path, path+".0"))
	assert.Empty(t, hostsOf(t, r), "rotated, and nothing written since")
}

func TestALogThatIsRotatedAwayGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	a := &Audit{Path: path, MaxSize: 300, Keep: 1}
	defer a.Close()
	record(a, "a.test")
	r := &LogReader{Path: path}
	defer r.Close()
	require.Equal(t, []string{"a.test"}, hostsOf(t, r))
	for i := range 20 {
		record(a, fmt.Sprintf("h%d.test", i))
	}
	got := hostsOf(t, r)
	require.NotEmpty(t, got)
	assert.Equal(t, "h19.test", got[len(got)-1], "what is left of it")
}

// TestAWriterThatIsLateIsReadAsWell: one writer rotates, and another one still
// writes to the old file, until it looks.
func TestAWriterThatIsLateIsReadAsWell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	late := &Audit{Path: path}
	record(late, "a.test")
	info, err := os.Stat(path)
	require.NoError(t, err)
	late.MaxSize = 3*info.Size() + 250 // room for a line of the late one where there is none for one of the other
	other := &Audit{Path: path, MaxSize: late.MaxSize, Kernel: strings.Repeat("k", 200)}
	defer late.Close()
	defer other.Close()
	r := &LogReader{Path: path}
	defer r.Close()
	record(other, "b.test", "c.test")
	require.Equal(t, []string{"a.test", "b.test", "c.test"}, hostsOf(t, r))
	record(late, "d.test")
	record(other, "e.test")
	old, err := os.ReadFile(path + ".1")
	require.NoError(t, err)
	require.Contains(t, string(old), "d.test", "the control: it was late")
	assert.ElementsMatch(t, []string{"d.test", "e.test"}, hostsOf(t, r))
	r.until = time.Time{}
	assert.Empty(t, hostsOf(t, r))
	assert.Nil(t, r.before.file, "it is not kept for ever")
}

func TestALineIsReadOnceItIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "egress.jsonl")
	const line = `{"time":"2025-01-02T03:04:05Z","host":"a.test","verdict":"allow"}` + "\n"
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	r := &LogReader{Path: path}
	defer r.Close()
	write("noise\n{}\n" + line[:20])
	assert.Empty(t, hostsOf(t, r))
	write(line[20:] + line)
	assert.Equal(t, []string{"a.test", "a.test"}, hostsOf(t, r))
}

func TestALinkIsNoLog(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), []byte("x\n"), 0o600))
	require.NoError(t, os.Symlink("other", filepath.Join(dir, "egress.jsonl")))
	r := &LogReader{Path: filepath.Join(dir, "egress.jsonl")}
	assert.Error(t, r.Read(func(Entry) {}))
}

func TestAVerdictIsReadBack(t *testing.T) {
	var v Verdict
	require.NoError(t, v.UnmarshalText([]byte("allow")))
	assert.Equal(t, Allow, v)
	require.Error(t, v.UnmarshalText([]byte("Allow")))
	assert.Equal(t, Deny, v, "what is not understood allows nothing")
}
