package sandbox

import (
	"strings"
	"unicode"
)

// sbpl writes a profile: one rule after the other, of which the last that fits wins.
type sbpl struct{ strings.Builder }

// note is a comment before rules. Its text is ours: a line of its own, never anything of the policy.
func (s *sbpl) note(text string) {
	if s.Len() > 0 {
		s.WriteString("\n")
	}
	s.WriteString("; " + text + "\n")
}

// rule writes one rule; several filters stand below each other and each of them suffices.
func (s *sbpl) rule(verb, operations string, filters ...string) {
	s.WriteString("(" + verb + " " + operations)
	switch len(filters) {
	case 0:
	case 1:
		s.WriteString(" " + filters[0])
	default:
		for _, f := range filters {
			s.WriteString("\n  " + f)
		}
	}
	s.WriteString(")\n")
}

// sbplLiteral quotes a text for a profile, which knows a backslash before a quote and before itself, and takes everything else as it is.
func sbplLiteral(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func sbplParam(name string) string   { return "(param " + sbplLiteral(name) + ")" }
func sbplSubpath(name string) string { return "(subpath " + sbplParam(name) + ")" }

func sbplAround(name string) string { return "(path-ancestors " + sbplParam(name) + ")" }

func sbplEach(form string, texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = "(" + form + " " + sbplLiteral(t) + ")"
	}
	return out
}

// beneath fits names directly below a parameter's path, in any case, and all that lies in them: a file system that ignores case would take a folder
// made as ".GIT" for ".git".
func beneath(name string, names []string, rest string) string {
	forms := make([]string, len(names))
	for i, n := range names {
		forms[i] = anyCase(n)
	}
	return `(regex (string-append "^" (regex-quote ` + sbplParam(name) + `) ` + sbplLiteral("/("+strings.Join(forms, "|")+")"+rest) + `))`
}

// anyCase is a regular expression for an ASCII name in any case, without a backslash.
func anyCase(name string) string {
	var out strings.Builder
	for _, r := range name {
		switch lower, upper := unicode.ToLower(r), unicode.ToUpper(r); {
		case lower != upper:
			out.WriteString("[" + string(lower) + string(upper) + "]")
		default:
			out.WriteString("[" + string(r) + "]")
		}
	}
	return out.String()
}
