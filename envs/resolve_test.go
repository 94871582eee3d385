package envs

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatARequestChanges(t *testing.T) {
	for what, c := range map[string]struct {
		there     string // version of klnum; empty: none
		add       []string
		additive  bool
		changes   map[string][2]string
		otherwise map[string][2]string // nil: there is no alternative
	}{
		"a leaf":                         {"1.0", []string{"klleaf"}, true, map[string][2]string{"klleaf": {"", "1.0"}}, nil},
		"what stands on what is there":   {"1.0", []string{"klstand"}, true, map[string][2]string{"klstand": {"", "1.0"}}, nil},
		"what needs something new":       {"", []string{"klstand"}, true, map[string][2]string{"klstand": {"", "1.0"}, "klnum": {"", "2.0"}}, nil},
		"what moves something":           {"1.0", []string{"klmove"}, false, map[string][2]string{"klmove": {"", "1.0"}, "klnum": {"1.0", "2.0"}}, nil},
		"an older one that does not":     {"1.5", []string{"klchoice"}, true, map[string][2]string{"klchoice": {"", "1.0"}}, map[string][2]string{"klchoice": {"", "2.0"}, "klnum": {"1.5", "2.0"}}},
		"the request moves it itself":    {"1.0", []string{"klnum==2.0"}, false, map[string][2]string{"klnum": {"1.0", "2.0"}}, nil},
		"an extra of what comes":         {"1.0", []string{"klextra[more]"}, true, map[string][2]string{"klextra": {"", "1.0"}, "klleaf": {"", "1.0"}}, nil},
		"a marker that does not hold":    {"1.0", []string{"klleaf ; python_version < '3'"}, true, map[string][2]string{}, nil},
		"there, and in the version":      {"1.5", []string{"klnum>=1.2"}, true, map[string][2]string{}, nil},
		"a version that is no PEP 440":   {"1.5-debian", []string{"klstand"}, true, map[string][2]string{"klstand": {"", "1.0"}}, nil},
		"something there, something not": {"1.5", []string{"klnum", "klleaf"}, true, map[string][2]string{"klleaf": {"", "1.0"}}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			p := newDesk(t)
			if c.there != "" {
				p.there(p.base, "klnum", c.there)
			}
			plan := p.add(c.add...)
			assert.Equal(t, c.changes, by(plan))
			assert.Equal(t, c.additive, plan.Additive)
			assert.Equal(t, len(c.changes) == 0, plan.Unchanged)
			if c.otherwise == nil {
				assert.Nil(t, plan.Alternative)
				return
			}
			require.NotNil(t, plan.Alternative)
			assert.Equal(t, c.otherwise, by(plan.Alternative))
			assert.False(t, plan.Alternative.Additive)
			newest, err := p.ask(Request{Add: c.add, Newest: true})
			require.NoError(t, err)
			assert.Equal(t, c.otherwise, by(newest))
			assert.Equal(t, c.changes, by(newest.Alternative))
		})
	}
}

func TestWhatIsThereIsAnsweredWithoutTheIndex(t *testing.T) {
	p := newDesk(t)
	p.there(p.base, "klextra", "1.0", "Provides-Extra: more", "Requires-Dist: klleaf ; extra == 'more'")
	p.Exec = nil
	assert.True(t, p.add("klextra").Unchanged)
	assert.Empty(t, p.index.requests())
	_, err := p.ask(Request{Add: []string{"klextra[more]"}})
	require.ErrorIs(t, err, errNoSandbox, "the control: its extra needs something that is not there")
	p.there(p.base, "klleaf", "1.0")
	assert.True(t, p.add("klextra[more]").Unchanged)
}

func TestAnExtraThatIsNotThere(t *testing.T) {
	p := newDesk(t)
	p.there(p.base, "klleaf", "1.0")
	plan := p.add("klleaf[none]")
	assert.True(t, plan.Unchanged)
	assert.Equal(t, []string{"klleaf 1.0 has no extra none"}, plan.Notes)
}

func TestFilesOfAPlan(t *testing.T) {
	p := newDesk(t)
	plan := p.add("klstand", "klleaf")
	require.Len(t, plan.Files, 3)
	var order []string
	for _, f := range plan.Files {
		order = append(order, f.Name)
		assert.Len(t, f.SHA256, 64)
		assert.EqualValues(t, len(p.index.files[f.Filename]), f.Size)
		assert.True(t, strings.HasPrefix(f.URL, p.Gateway+"/files/"), f.URL)
		assert.NotNil(t, f.Requires)
	}
	assert.Equal(t, []string{"klleaf", "klnum", "klstand"}, order)
	assert.Equal(t, []string{"klnum>=1"}, plan.Files[2].Requires)
	stages, err := os.ReadDir(filepath.Join(p.Work, "stage"))
	require.NoError(t, err)
	assert.Empty(t, stages)
	again := p.add("klstand", "klleaf")
	assert.Equal(t, plan.Digest, again.Digest)
	assert.NotEqual(t, plan.ID, again.ID)
}

// What depends on what the request moves goes along, when there is a version that can.
func TestDependantsMoveAlong(t *testing.T) {
	p := newDesk(t)
	p.owns("klnum", "1.5")
	p.owns("klchoice", "1.0", "Requires-Dist: klnum<2,>=1")
	plan := p.add("klnum>=2")
	assert.Equal(t, map[string][2]string{"klnum": {"1.5", "2.0"}, "klchoice": {"1.0", "2.0"}}, by(plan))
	assert.Empty(t, plan.Breaks)
}

func TestWhatBreaksIsNamed(t *testing.T) {
	p := newDesk(t)
	p.owns("klnum", "1.5")
	p.owns("klold", "1.0", "Requires-Dist: klnum<2", "Requires-Dist: klgone") // not on the index; the second does not hold today
	plan := p.add("klmove")
	assert.Equal(t, map[string][2]string{"klmove": {"", "1.0"}, "klnum": {"1.5", "2.0"}}, by(plan))
	assert.Equal(t, []Breakage{{"klold", "1.0", "klnum<2", "2.0"}}, plan.Breaks)
	assert.Contains(t, strings.Join(plan.Sentences(), "\n"), "klold 1.0 may stop working: it needs klnum<2 and will find 2.0.")
}

func TestRemovalIsPlanned(t *testing.T) {
	p := newDesk(t)
	p.Exec = nil
	p.there(p.base, "klnum", "1.0")
	p.owns("klnum", "1.5")
	p.owns("klstand", "1.0", "Requires-Dist: klnum>=1.2")
	p.owns("klleaf", "1.0")
	plan, err := p.ask(Request{Remove: []string{"KLleaf", "klnum"}})
	require.NoError(t, err)
	assert.Equal(t, map[string][2]string{"klleaf": {"1.0", ""}, "klnum": {"1.5", "1.0"}}, by(plan))
	assert.Equal(t, []string{"klleaf", "klnum"}, plan.Remove)
	assert.False(t, plan.Additive)
	assert.Equal(t, []Breakage{{"klstand", "1.0", "klnum>=1.2", "1.0"}}, plan.Breaks)
	_, err = p.ask(Request{Remove: []string{"klnum==1"}})
	assert.ErrorContains(t, err, "its name alone")
	_, err = p.ask(Request{Remove: []string{"nothing", "ipykernel"}})
	assert.ErrorContains(t, err, `"nothing": it is not installed`)
	assert.ErrorContains(t, err, `"ipykernel": it belongs to the interpreter`)
}

func TestWhatCannotBeResolved(t *testing.T) {
	p := newDesk(t)
	p.there(p.base, "klnum", "1.0")
	for text, words := range map[string][]string{
		"no-such-package-kl": {"there is no package no-such-package-kl"},
		"klclash2":           {"klclash", "klnum"},
		"klsource":           {"klsource", "wheel"},
		"klleaf==9":          {"klleaf==9"},
	} {
		_, err := p.ask(Request{Add: []string{text}})
		var re *ResolveError
		require.ErrorAs(t, err, &re, text)
		assert.Empty(t, re.Causes)
		for _, w := range words {
			assert.ErrorContains(t, err, w)
		}
		assert.NotContains(t, err.Error(), "\n")
	}
}

// The gateway's measurement wins over what the resolver makes of it.
func TestWhyTheIndexFailed(t *testing.T) {
	for what, c := range map[string]struct {
		spoil func(p *desk)
		cause string
		word  string
	}{
		"login":      {func(p *desk) { p.index.Answer = statusFor(http.StatusUnauthorized) }, CauseStatus, "401"},
		"forbidden":  {func(p *desk) { p.index.Answer = statusFor(http.StatusForbidden) }, CauseStatus, "403"},
		"in trouble": {func(p *desk) { p.index.Answer = statusFor(http.StatusServiceUnavailable) }, CauseStatus, "503"},
		"name":       {func(p *desk) { p.Index.URL = "http://index.invalid/simple" }, CauseDNS, "index.invalid"},
		"nobody":     {func(p *desk) { p.index.Server.Close() }, CauseConnect, "refused"},
		"no TLS":     {func(p *desk) { p.Index.URL = strings.Replace(p.Index.URL, "http:", "https:", 1) }, CauseTLS, "tls"},
	} {
		t.Run(what, func(t *testing.T) {
			p := newDesk(t)
			c.spoil(p)
			_, err := p.ask(Request{Add: []string{"klleaf"}})
			var re *ResolveError
			require.ErrorAs(t, err, &re)
			require.NotEmpty(t, re.Causes)
			assert.Equal(t, c.cause, re.Causes[0].Cause)
			assert.ErrorContains(t, err, c.word)
			var up *UpstreamError
			require.ErrorAs(t, err, &up)
		})
	}
}

func TestWhatTheResolverIsGiven(t *testing.T) {
	p := newDesk(t)
	p.Index.Credentials = Credentials{"ann", "hunter2"}
	p.there(p.base, "klnum", "1.0")
	var tools []Tool
	var mu sync.Mutex
	run := p.Exec
	p.Exec = func(ctx context.Context, tool Tool) error {
		mu.Lock()
		tools = append(tools, tool)
		mu.Unlock()
		return run(ctx, tool)
	}
	p.add("klleaf")
	require.NotEmpty(t, tools)
	for _, tool := range tools {
		assert.Equal(t, uvInside, tool.Argv[0])
		assert.NotContains(t, strings.Join(append(tool.Argv, tool.Env...), " "), "hunter2")
		for _, b := range tool.Writable {
			assert.True(t, below(b.Source, []string{p.Work}), b.Source)
		}
		assert.Contains(t, tool.Argv, "--only-binary")
		assert.Contains(t, tool.Dir, p.Work)
	}
}

func TestWithoutUVThePlanSaysSo(t *testing.T) {
	p := newDesk(t)
	p.UV = UVOff
	_, err := p.ask(Request{Add: []string{"klleaf"}})
	var none *NoUVError
	require.ErrorAs(t, err, &none)
}
