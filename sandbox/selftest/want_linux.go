package selftest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/probe"
)

// want is what an attempt should come to. The zero value is that it works.
type want struct {
	text  string
	ok    func(probe.Outcome) bool
	brief func(detail string) string // what may be shown of what was found; nil: its beginning
}

func (w want) holds(o probe.Outcome) bool {
	if w.ok == nil {
		return o.Did
	}
	return w.ok(o)
}

func (w want) String() string {
	if w.ok == nil {
		return "did"
	}
	return w.text
}

// fails wants one of the errors.
func fails(names ...string) want {
	return want{text: strings.Join(names, " or "), ok: func(o probe.Outcome) bool { return !o.Did && slices.Contains(names, o.Error) }}
}

// eitherWay wants success or one of the errors: the kernel itself may refuse this user.
func eitherWay(names ...string) want {
	return want{text: "did or " + strings.Join(names, " or "), ok: func(o probe.Outcome) bool { return o.Did || slices.Contains(names, o.Error) }}
}

// finds wants success and something of what was found.
func finds(text string, ok func(string) bool) want {
	return want{text: text, ok: func(o probe.Outcome) bool { return o.Did && ok(o.Detail) }}
}

func says(detail string) want {
	return finds(strconv.Quote(detail), func(s string) bool { return s == detail })
}

// counted shows how many variables were found instead of them: the caller's hold secrets.
func (w want) counted() want {
	w.brief = func(environ string) string {
		return "variables: " + strconv.Itoa(len(strings.FieldsFunc(environ, func(r rune) bool { return r == 0 || r == '\n' })))
	}
	return w
}

func holdsWord(word string) want {
	return finds("something with "+word, func(s string) bool { return strings.Contains(s, word) })
}

// within wants a list that holds nothing but known words.
func within(known []string) func(string) bool {
	return func(s string) bool {
		for _, word := range strings.Fields(s) {
			if !slices.Contains(known, word) {
				return false
			}
		}
		return true
	}
}
