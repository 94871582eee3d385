package plain

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"numpy 2.0":            "numpy 2.0",
		"a\nb\tc":              "a b c",
		"\x1b[31mred":          `\x1b[31mred`,
		"bell\a":               `bell\x07`,
		"\xff\xfe":             `\xff\xfe`,
		"safe\u202egnp":        `safe\u202egnp`,
		"Größe 数据 ☂":           "Größe 数据 ☂",
		"zero\u200bwidth":      `zero\u200bwidth`,
		"title\x1b]0;x\x07end": `title\x1b]0;x\x07end`,
	} {
		assert.Equal(t, want, Line(in, 0))
	}
}

func TestTextKeepsLines(t *testing.T) {
	assert.Equal(t, "a\nb\tc", Text("a\r\nb\tc", 0))
	assert.Equal(t, `a\x0db`, Text("a\rb", 0))
}

func TestCutIsOnARuneAndSaid(t *testing.T) {
	got := Line(strings.Repeat("ü", 100), 20)
	assert.LessOrEqual(t, len(got), 20)
	assert.True(t, strings.HasSuffix(got, "ü…"), got)
}
