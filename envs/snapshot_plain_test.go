package envs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var recordTexts = map[string]string{
	"in order":        "x-1.dist-info/RECORD,,\nx/__init__.py,sha256=a,1\nx/a.py,sha256=b,2\nx/b.pyc,,\nx/c.py,sha256=c,3\n",
	"out of order":    "x/c.py,sha256=c,3\nx/a.py,sha256=b,2\nx-1.dist-info/INSTALLER,sha256=d,4\n",
	"without an end":  "x/a.py,sha256=b,2\nx/c.py,sha256=c,3",
	"of Windows":      "x/a.py,sha256=b,2\r\nx\\c.py,sha256=c,3\r\n",
	"with gaps":       "\nx/a.py,sha256=b,2\n\n\r\nx/c.py,sha256=c,3\n",
	"quoted":          "\"x/a,b.py\",sha256=b,2\n\"x/of\ntwo lines.py\",sha256=c,3\nx/c.py,sha256=c,3\n",
	"of fewer fields": "x/a.py\nx/b.py,\nx/c.py,,\nx/d.py,sha256=a\n",
	"of scripts only": "../../bin/x,sha256=a,1\nx-1.dist-info/RECORD,,\n",
	"empty":           "",
	"long":            strings.Repeat("x/a.py,sha256=a,1\n", 3000) + "x/" + strings.Repeat("b", 20000) + ".py,sha256=b,2\nx/c.py,sha256=c,3\n",
	"long, no order":  "y/a.py,sha256=y,1\n" + strings.Repeat("x/a.py,sha256=a,1\n", 3000),
}

// A fingerprint is of the sorted lines, whatever is spared on the way: kernels compare with what an earlier version noted.
func TestAFingerprintIsOfTheSortedLines(t *testing.T) {
	for name, text := range recordTexts {
		want := ""
		var lines []string
		for l := range recordLines(text) {
			if l.ofWheel() {
				lines = append(lines, l.text+"\n")
			}
		}
		slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[:len(a)-1], b[:len(b)-1]) })
		if len(lines) > 0 {
			sum := sha256.Sum256([]byte(strings.Join(lines, "")))
			want = "record:" + hex.EncodeToString(sum[:16])
		}
		assert.Equal(t, want, fingerprintOf(text), name)
	}
	in := recordTexts["in order"]
	assert.NotEqual(t, fingerprintOf(in), fingerprintOf(strings.Replace(in, "sha256=b", "sha256=z", 1)))
	assert.Equal(t, fingerprintOf(in), fingerprintOf(strings.ReplaceAll(in, "\n", "\r\n")), "pip ends lines with CRLF, uv does not")
	assert.Equal(t, "record:ffb910cc89fb57509572aebe96a2b631", fingerprintOf(in), "as it was noted before")
}

// What one distribution's files are called is no longer in the buffer when the next one has been read.
func TestAReaderKeepsNothingOfItsBuffer(t *testing.T) {
	r := factReader{view: view{suffixes: moduleSuffixes(nil)}}
	var f distFacts
	data := []byte("x.pth,sha256=a,1\nx/__init__.py,sha256=a,1\nns/x.py,,\n")
	r.record(&f, "x-1.dist-info", data)
	for i := range data {
		data[i] = '?'
	}
	assert.Equal(t, []string{"x.pth", "x/__init__.py", "ns/x.py"}, f.files)
	assert.Equal(t, []string{"x.pth"}, f.startup)
	assert.Equal(t, []string{"ns/x", "x"}, f.modules)
	assert.Equal(t, []string{"ns"}, f.namespaces)
}

func TestTheFieldsOfALine(t *testing.T) {
	for text, want := range map[string][3]string{
		"a.py,sha256=x,1":         {"a.py", "sha256=x", "1"},
		"\"a,b.py\",sha256=x,1\r": {"a,b.py", "sha256=x", "1"},
		"a\\b.py,sha256=x,1,more": {"a/b.py", "sha256=x", "1,more"},
		"a.py":                    {"a.py", "", ""},
		"\"a\"\"b\nc.py\",,7":     {"a\"b\nc.py", "", "7"},
		"\"never closed,,7\nx,,8": {"never closed,,7\nx,,8", "", ""},
	} {
		lines := slices.Collect(recordLines(text + "\n"))
		if assert.Len(t, lines, 1, "%q", text) {
			assert.Equal(t, want, [3]string{strings.TrimSuffix(lines[0].path, "\n"), lines[0].sum(), lines[0].size()}, "%q", text)
		}
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

// What a RECORD claims costs no more than its length: it comes with a wheel, and a snapshot is taken at every start of a kernel.
func TestARecordThatClaimsTooMuchIsReadInTime(t *testing.T) {
	r := factReader{view: view{suffixes: moduleSuffixes(nil)}}
	var tops strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&tops, "m%d/x.py,,\nt%d.pyc,,\n", i, i)
	}
	for name, text := range map[string]string{
		"many tops": tops.String(), "one deep path": strings.Repeat("a/", 4<<20) + "x.py,,\n", "many deep paths": strings.Repeat(strings.Repeat("a/", 1000)+"x.py,,\n", 2000),
		"an open quote": "\"" + strings.Repeat("x.py,,\n", 1<<20), "two quotes": strings.Repeat("\"x.py\n\",,\n", 1<<18),
	} {
		var f distFacts
		begin := time.Now()
		r.record(&f, "x-1.dist-info", []byte(text))
		assert.Less(t, time.Since(begin), 10*time.Second, name)
	}
}
