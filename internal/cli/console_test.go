package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHowTheStreamsOfACommandArePassed(t *testing.T) {
	for _, c := range []struct {
		name string
		is   given
		want shape
	}{
		{"a person at a terminal", given{in: true, out: true, err: true}, shape{terminal: true, input: true}},
		{"pipes and files", given{}, shape{input: true}},
		{"into a pager", given{in: true, err: true}, shape{input: true, errPlain: true}},
		{"from a file", given{out: true, err: true}, shape{input: true, outPlain: true, errPlain: true}},
		{"errors into a file", given{in: true, out: true}, shape{input: true, outPlain: true}},
		{"a job in the background", given{in: true, out: true, err: true, background: true}, shape{outPlain: true, errPlain: true}},
		{"for a tool", given{in: true, out: true, err: true, json: true}, shape{input: true, forTools: true}},
	} {
		assert.Equal(t, c.want, shapeOf(c.is), c.name)
	}
}

func TestATerminalIsShownTextAndColoursAlone(t *testing.T) {
	for given, want := range map[string]string{
		"plain é £ 日本\n\tx\r\b":          "plain é £ 日本\n\tx\r\b",
		"\x1b[31;1mred\x1b[0m":           "\x1b[31;1mred\x1b[0m",
		"\x1b[38:2::1:2:3mtrue\x1b[m":    "\x1b[38:2::1:2:3mtrue\x1b[m",
		"\x1b]52;c;cm0gLXJm\x07":         `\x1b]52;c;cm0gLXJm\x07`,
		"\x1b[2J\x1b[6n":                 `\x1b[2J\x1b[6n`,
		"\u009b2J":                       `\x9b2J`,
		"\x1bP$q\x1b\\":                  `\x1bP$q\x1b\`,
		"\x1b\x1b[31m":                   `\x1b` + "\x1b[31m",
		"\x7f\x00":                       `\x7f\x00`,
		"\x1b[" + string(manyDigits(99)): `\x1b[` + string(manyDigits(99)),
	} {
		var whole, pieces bytes.Buffer
		_, err := shown(&whole, true).Write([]byte(given))
		require.NoError(t, err)
		w := shown(&pieces, true)
		for _, b := range []byte(given) {
			_, err := w.Write([]byte{b})
			require.NoError(t, err)
		}
		assert.Equal(t, want, whole.String(), "%q", given)
		assert.Equal(t, want, pieces.String(), "%q, byte by byte", given)
	}
	var raw bytes.Buffer
	_, err := shown(&raw, false).Write([]byte("\x1b[2J"))
	require.NoError(t, err)
	assert.Equal(t, "\x1b[2J", raw.String(), "a pipe or a file gets bytes")
}

func manyDigits(n int) []byte { return bytes.Repeat([]byte("1"), n) }

func TestWhatIsKeptForToolsIsBounded(t *testing.T) {
	var c captured
	for range 3 {
		n, err := c.Write(make([]byte, capturedBytes/2))
		require.NoError(t, err)
		assert.Equal(t, capturedBytes/2, n)
	}
	assert.Len(t, c.text(), capturedBytes)
	assert.Equal(t, capturedBytes/2, c.left)
}
