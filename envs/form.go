package envs

import (
	"regexp"
	"sync"
)

// form is a regular expression that is compiled when it is first asked: together they would cost every start of a kernel, which asks none of them,
// a millisecond.
type form struct {
	text string
	once sync.Once
	made *regexp.Regexp
}

func newForm(text string) *form { return &form{text: text} }

func (f *form) compiled() *regexp.Regexp {
	f.once.Do(func() { f.made = regexp.MustCompile(f.text) })
	return f.made
}

func (f *form) String() string                       { return f.text }
func (f *form) MatchString(s string) bool            { return f.compiled().MatchString(s) }
func (f *form) FindStringSubmatch(s string) []string { return f.compiled().FindStringSubmatch(s) }
func (f *form) FindStringSubmatchIndex(s string) []int {
	return f.compiled().FindStringSubmatchIndex(s)
}

func (f *form) ReplaceAllString(s, with string) string { return f.compiled().ReplaceAllString(s, with) }

func (f *form) ExpandString(to []byte, template, s string, match []int) []byte {
	return f.compiled().ExpandString(to, template, s, match)
}
