package envs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A mistake in a form shows itself only when it is first asked, which may be in a rare error.
func TestEveryFormCompiles(t *testing.T) {
	forms := []*form{
		uvAnswer, leadingRelease, notLocal, skeleton, specifierForm, separators, distName, eggPython, versionForm, minorForm, planID, pagePath, filePath,
		pycName, requirementHead, versionControl, pyVersionForm,
	}
	for _, tr := range translations {
		forms = append(forms, tr.said)
	}
	for _, f := range forms {
		_, err := regexp.Compile(f.String())
		assert.NoError(t, err, f)
	}
}

func TestAFormIsItsExpression(t *testing.T) {
	f, re := newForm(`(a+)(b?)`), regexp.MustCompile(`(a+)(b?)`)
	for range 2 { // compiled, then kept
		for _, s := range []string{"", "xaab", "ba", "zzz"} {
			require.Equal(t, re.MatchString(s), f.MatchString(s))
			require.Equal(t, re.FindStringSubmatch(s), f.FindStringSubmatch(s))
			require.Equal(t, re.ReplaceAllString(s, "<$1>"), f.ReplaceAllString(s, "<$1>"))
			m := re.FindStringSubmatchIndex(s)
			require.Equal(t, m, f.FindStringSubmatchIndex(s))
			if m != nil {
				require.Equal(t, re.ExpandString(nil, "$1-$2", s, m), f.ExpandString(nil, "$1-$2", s, m))
			}
		}
	}
	require.Equal(t, re.String(), f.String())
}

func TestNamesOfEnvironmentsHaveTheirForm(t *testing.T) {
	want := regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\z`)
	names := []string{"", "default", "\u212a", "a\n", "../a", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("é", 32)}
	for c := range 256 {
		b := string([]byte{byte(c)})
		names = append(names, b, "a"+b, b+"a", "a"+b+"a", string(rune(c)))
	}
	accepted := 0
	for _, name := range names {
		assert.Equal(t, want.MatchString(name), hasNameForm(name), "%q", name)
		assert.Equal(t, want.MatchString(name), CheckName(name) == nil, "%q", name)
		if hasNameForm(name) {
			accepted++
		}
	}
	assert.Greater(t, accepted, 200)
}
