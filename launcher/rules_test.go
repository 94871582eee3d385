package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// edited is a configuration file of one user, and the rules that follow it.
type edited struct {
	t        *testing.T
	file     string
	rules    *rules
	told     []string
	reviewed chan struct{}
}

func newEdited(t *testing.T, first string, s Spec) *edited {
	base := t.TempDir()
	d := dirs.Dirs{Home: base, Config: filepath.Join(base, "config"), Machine: filepath.Join(base, "machine")}
	require.NoError(t, os.Mkdir(d.Config, 0o700))
	e := &edited{t: t, file: filepath.Join(d.Config, "config.yaml"), reviewed: make(chan struct{}, 10)}
	e.write(first)
	p := &Plan{spec: s, host: host{dirs: d}, stamps: stampsOf(configFiles(d))}
	cfg, err := s.config(p.host)
	require.NoError(t, err)
	p.Rules = cfg.Rules()
	e.rules = rulesOf(p, func(text string) { e.told = append(e.told, text) })
	e.rules.review = func() int { e.reviewed <- struct{}{}; return 0 }
	return e
}

// write replaces the file as an editor does.
func (e *edited) write(text string) {
	e.t.Helper()
	require.NoError(e.t, dirs.WriteFile(e.file, []byte(text), 0o600))
}

func (e *edited) allows(host string) bool {
	e.t.Helper()
	r, err := e.rules.current()
	require.NoError(e.t, err)
	target, err := egress.ParseHost(host, 443)
	require.NoError(e.t, err)
	return r.Decide(target).Verdict == egress.Allow
}

func TestAnEditOfTheRulesHoldsAtOnce(t *testing.T) {
	e := newEdited(t, "egress: {allow: [a.test]}\n", Spec{Overrides: Overrides{AllowHost: []string{"flag.test"}}})
	assert.True(t, e.allows("a.test"))
	assert.False(t, e.allows("b.test"))
	e.write("egress: {allow: [b.test]}\n")
	assert.False(t, e.allows("a.test"))
	assert.True(t, e.allows("b.test"))
	assert.True(t, e.allows("flag.test"), "flags stay on top")
	require.NoError(t, os.Remove(e.file))
	assert.False(t, e.allows("b.test"))
	assert.Empty(t, e.told)
}

func TestAnEditThatCannotBeUsedIsToldAndChangesNothing(t *testing.T) {
	e := newEdited(t, "egress: {allow: [a.test]}\n", Spec{})
	e.write("egress:\n  allow: [b.test, \"*\"]\n")
	for range 3 {
		assert.True(t, e.allows("a.test"))
		assert.False(t, e.allows("b.test"), "not even the half that could be read")
	}
	require.Len(t, e.told, 1, "once")
	assert.Contains(t, e.told[0], "the rules from before hold: ")
	assert.Contains(t, e.told[0], "config.yaml:2: egress.allow")
	e.write("egress: {allow: [b.test]}\n")
	require.NoError(t, os.Chmod(e.file, 0o622))
	assert.True(t, e.allows("a.test"), "a file that others can write is not believed")
	require.NoError(t, os.Chmod(e.file, 0o600))
	assert.True(t, e.allows("b.test"))
	assert.False(t, e.allows("a.test"))
}

func TestWhatIsOpenIsReviewedOnlyWhenAskedFor(t *testing.T) {
	e := newEdited(t, "egress: {allow: [a.test]}\n", Spec{})
	e.write("egress: {allow: [b.test]}\n")
	e.allows("b.test")
	e.write("egress: {allow: [c.test], close_on_deny: true}\n")
	e.allows("c.test")
	select {
	case <-e.reviewed:
	case <-time.After(5 * time.Second):
		t.Fatal("no review")
	}
	assert.Empty(t, e.reviewed, "one: the first edit did not ask for it")
}

func TestTheRulesOfAnEmbedderAreItsOwn(t *testing.T) {
	cfg := DefaultConfig()
	rule, err := egress.ParseRule("own.test")
	require.NoError(t, err)
	cfg.Egress.Allow = []egress.Rule{rule}
	e := newEdited(t, "egress: {allow: [a.test]}\n", Spec{Config: cfg})
	assert.True(t, e.allows("own.test"))
	e.write("egress: {allow: [b.test]}\n")
	assert.True(t, e.allows("own.test"))
	assert.False(t, e.allows("b.test"))
}

// saves writes in place, in steps, as some editors do: the file is gone or empty at first, and then holds half of what it will.
func (e *edited) saves(first func(), text string) {
	first()
	time.Sleep(5 * time.Millisecond)
	f, err := os.OpenFile(e.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if !assert.NoError(e.t, err) {
		return
	}
	defer f.Close()
	for line := range strings.Lines(text) {
		f.WriteString(line)
		time.Sleep(5 * time.Millisecond)
	}
}

// What is asked while a file is saved five times over: whether all of it was as it is before and after.
func (e *edited) holdsWhileSaved(first func(), text string) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5 {
			e.saves(first, text)
		}
	}()
	held := true
	for saving := true; saving; {
		select {
		case <-done:
			saving = false
		default:
		}
		held = e.allows("a.test") && !e.allows("pypi.org") && !e.allows("www.ebi.ac.uk") && held
	}
	return held
}

// A machine that is busy can hold the editor up in the middle for longer than anybody waits for one, so once of several times is enough: without the
// waiting it is never.
func TestAFileThatIsBeingWrittenTakesNothingAway(t *testing.T) {
	const text = "egress:\n  groups: [python]\n  allow: [a.test]\n  deny: [pypi.org]\n"
	e := newEdited(t, text, Spec{})
	for name, first := range map[string]func(){
		"emptied": func() { assert.NoError(t, os.Truncate(e.file, 0)) },
		"moved":   func() { assert.NoError(t, os.Rename(e.file, e.file+"~")) },
	} {
		held := false
		for range 20 {
			if held = e.holdsWhileSaved(first, text); held {
				break
			}
		}
		assert.True(t, held, name)
	}
	require.NoError(t, os.Truncate(e.file, 0))
	assert.True(t, e.allows("www.ebi.ac.uk"), "the control: an empty file that stays empty means what is built in")
}

// A kernel that is started while an editor saves in place must not begin with an empty policy.
func TestAStartWaitsForAnEditToBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	files := [3]string{file, file + ".none", file + ".none"}
	since := func(ago time.Duration, text string) stamps {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		at := time.Now().Add(-ago)
		require.NoError(t, os.Chtimes(file, at, at))
		return stampsOf(files)
	}
	const soon = -5 * time.Second // a machine that is busy must not make it old
	assert.True(t, since(soon, "").young())
	assert.True(t, since(writingRest+time.Millisecond, "").young(), "the rest is still to come")
	assert.False(t, since(time.Second, "").young(), "it is empty for good")
	assert.True(t, since(soon, "egress: {}").young(), "more may come")
	assert.False(t, since(time.Second, "egress: {}").young())
	assert.False(t, since(-time.Hour, "egress: {}").young(), "the clock of a server that is wrong holds up no start")
	assert.False(t, stamps{}.young())

	since(soon, "")
	written := time.AfterFunc(10*time.Millisecond, func() { os.WriteFile(file, []byte("egress: {deny: [a.test]}\n"), 0o600) })
	defer written.Stop()
	assert.NotZero(t, settled(files, stamps.young)[0].size)
}
