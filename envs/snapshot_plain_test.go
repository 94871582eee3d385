package envs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var recordTexts = map[string]string{
	"in order":        "x-1.dist-info/RECORD,,\nx/__init__.py,sha256=a,1\nx/a.py,sha256=b,2\nx/b.pyc,,\nx/c.py,sha256=c,3\n",
	"out of order":    "x/c.py,sha256=c,3\nx/a.py,sha256=b,2\nx-1.dist-info/INSTALLER,sha256=d,4\n",
	"without an end":  "x/a.py,sha256=b,2\nx/c.py,sha256=c,3",
	"of Windows":      "x/a.py,sha256=b,2\r\nx\\c.py,sha256=c,3\r\n",
	"with gaps":       "\nx/a.py,sha256=b,2\n\n\nx/c.py,sha256=c,3\n",
	"quoted":          "\"x/a,b.py\",sha256=b,2\n\"x/of\ntwo lines.py\",sha256=c,3\nx/c.py,sha256=c,3\n",
	"of fewer fields": "x/a.py\nx/b.py,\nx/c.py,,\nx/d.py,sha256=a\n",
	"of scripts only": "../../bin/x,sha256=a,1\nx-1.dist-info/RECORD,,\n",
	"empty":           "",
}

// A fingerprint that is taken from the text as it stands is that of the lines one by one: kernels compare with what an earlier version noted.
func TestFingerprintsOfTheTextAndOfItsLinesAreTheSame(t *testing.T) {
	var r factReader
	for name, text := range recordTexts {
		lines := parseRecord(text)
		assert.Equal(t, fingerprintOf(lines), r.fingerprint(lines, []byte(text)), name)
	}
	in := recordTexts["in order"]
	r.fingerprint(parseRecord(in), []byte(in))
	require.Len(t, r.runs, 2, "this one is taken as it stands: bytecode lies between its two parts")
	assert.NotEqual(t, fingerprintOf(parseRecord(in)), fingerprintOf(parseRecord(strings.Replace(in, "sha256=b", "sha256=z", 1))))
}

// A backslash in a line that no rule is about sends a text the long way round.
func TestRecordsArePlainOrNotAndReadTheSame(t *testing.T) {
	for name, text := range recordTexts {
		if strings.ContainsAny(text, "\"\\\r") {
			continue
		}
		long := parseRecord(text + "\n\\,,")
		assert.Equal(t, long[:len(long)-1], parseRecord(text), name)
	}
}

func TestNamesAreThoseOfTheExpressions(t *testing.T) {
	for _, name := range []string{
		"", "a", "A", "7", "six", "scikit-learn", "zope.interface", "a__b--c..d", "a-_.b", "-a", "a-", ".", "_", "a b", "a/b", "Ärger", "a\u017f", "\u212a", "a\x00", "ruamel.yaml.clib", "1-2",
	} {
		assert.Equal(t, distName.MatchString(name), isDistName(name), "%q", name)
		assert.Equal(t, strings.ToLower(separators.ReplaceAllString(name, "-")), normalName(name), "%q", name)
	}
}
