package envs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNames(t *testing.T) {
	for _, good := range []string{"default", "a", "0", "Study-2.1_b", strings.Repeat("x", 64)} {
		assert.NoError(t, CheckName(good), good)
	}
	for bad, why := range map[string]string{
		"": "empty", ".": "first", "..": "first", "../x": "first", "a/b": "only", `a\b`: "only", "-x": "first", "_x": "first", ".x": "first", "a b": "only",
		"a\nb": "only", "a\n": "only", "ä": "only", strings.Repeat("x", 65): "longer", "a\x00": "only", "CON:": "only",
	} {
		var ne *NameError
		if assert.ErrorAs(t, CheckName(bad), &ne, "%q", bad) {
			assert.Contains(t, ne.Reason, why, "%q", bad)
			assert.NotContains(t, ne.Error(), "\n")
		}
	}
}
