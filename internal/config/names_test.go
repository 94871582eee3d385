package config

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The forms that the written-out checks stand for.
var forms = map[string]struct {
	check func(string) bool
	form  *regexp.Regexp
}{
	"environment": {environmentName, regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\z`)},
	"variable":    {variableName, regexp.MustCompile(`\A[A-Za-z_][A-Za-z0-9_]*\z`)},
	"header":      {headerName, regexp.MustCompile("\\A[!#$%&'*+.^_`|~0-9A-Za-z-]+\\z")},
}

func TestNamesHaveTheirForms(t *testing.T) {
	var all []string
	for c := range 256 {
		b := string([]byte{byte(c)})
		all = append(all, b, "a"+b, b+"a", "a"+b+"a", string(rune(c)))
	}
	all = append(all, "", "default", "_X1", "X-Forwarded-For", "a\n", "\na", "ü", "\u212a", "a b", "a/b", "../a", "1a", "-a", ".a",
		strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("é", 3))
	for name, f := range forms {
		yes := 0
		for _, s := range all {
			want := f.form.MatchString(s)
			assert.Equal(t, want, f.check(s), "%s %q", name, s)
			if want {
				yes++
			}
		}
		assert.Greater(t, yes, 100, "the table has names that are accepted")
	}
}

func FuzzNames(f *testing.F) {
	f.Add("default")
	f.Add("X-Token")
	f.Fuzz(func(t *testing.T, s string) {
		for name, form := range forms {
			assert.Equal(t, form.form.MatchString(s), form.check(s), "%s %q", name, s)
		}
	})
}
