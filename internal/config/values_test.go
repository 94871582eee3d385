package config

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnIndexPrintsWithoutItsPassword(t *testing.T) {
	c := newWorld(t).user("install: {index: \"https://user:hunter2@example.test/simple\"}\n").load()
	assert.Equal(t, "https://user:hunter2@example.test/simple", c.Install.Index.Secret())
	js, err := json.Marshal(c.Install)
	require.NoError(t, err)
	for _, s := range []string{string(js), fmt.Sprint(c.Install), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c.Install), fmt.Sprintf("%s %q", c.Install.Index, c.Install.Index)} {
		assert.NotContains(t, s, "hunter2")
	}
	assert.Contains(t, string(js), "example.test/simple")
	assert.Equal(t, "https://example.test/simple", IndexURL("https://example.test/simple").String())
}

func TestCommandLines(t *testing.T) {
	for line, want := range map[string][]string{
		"make report":           {"make", "report"},
		`notify "two words" ''`: {"notify", "two words", ""},
		`a\ b`:                  {"a b"},
		"echo $HOME":            {"echo", "$HOME"}, // no shell: as it is written
		"echo '|' \\;":          {"echo", "|", ";"},
	} {
		got, err := command(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, got, line)
	}
	for _, line := range []string{"", "   ", "''", "a; b", "a | b", "a && b", "a > f", "a `b`", "a $(b)", "a 'b", "a\nb", "a &"} {
		got, err := command(line)
		assert.Error(t, err, "%q gave %q", line, got)
	}
}

func TestDurations(t *testing.T) {
	for _, bad := range []string{"", "-1s", "1", "d", "1.5d", "-1d", "99999d", "1w", "s"} {
		_, err := age(bad)
		assert.Error(t, err, bad)
	}
	for text, want := range map[string]float64{"0": 0, "0d": 0, "36h": 36, "7d": 168, "1h30m": 1.5} {
		d, err := age(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, d.Hours(), text)
	}
}
