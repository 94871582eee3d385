package envs

import (
	"errors"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// requirement is one dependency specifier of PEP 508, without URLs.
type requirement struct {
	text   string   // as it was written
	name   string   // normalised
	extras []string // normalised, sorted
	specs  specifiers
	marker marker // nil: always
}

const requirementMost = 1000 // bytes; the longest in use have some 200

var requirementHead = newForm(`\A(?i:([A-Z0-9](?:[A-Z0-9._-]*[A-Z0-9])?))\s*(?:\[([^\]]*)\])?\s*`)

// parseAsked reads what a person or an agent asks for. Tools would take options, files and addresses in its place; here they are named and refused.
func parseAsked(text string) (requirement, error) {
	if reason := notAsked(text); reason != "" {
		return requirement{}, &RequirementError{text, reason}
	}
	r, err := parseRequirement(text)
	if err != nil {
		return requirement{}, &RequirementError{text, err.Error()}
	}
	return r, nil
}

var versionControl = newForm(`\A(?i:git|hg|svn|bzr)(\+|@|:)`)

func notAsked(text string) (reason string) {
	t := strings.TrimSpace(text)
	asked, _, _ := strings.Cut(t, ";")
	lower := strings.ToLower(strings.TrimSpace(asked))
	switch {
	case t == "":
		return "it is empty"
	case len(text) > requirementMost:
		return "it is too long"
	case !utf8.ValidString(text) || strings.IndexFunc(text, unicode.IsControl) >= 0:
		return "it has control characters or is no UTF-8"
	case t[0] == '-':
		return "options are not taken, only names of packages"
	case versionControl.MatchString(t):
		return "repositories are not taken, only names of packages"
	case strings.Contains(asked, "://") || strings.Contains(asked, "@"):
		return "URLs are not taken, only names of packages"
	case strings.ContainsAny(asked, `/\`) || t[0] == '.' || t[0] == '~':
		return "paths are not taken, only names of packages"
	case hasSuffixFold(lower, ".whl") || hasSuffixFold(lower, ".tar.gz") || hasSuffixFold(lower, ".zip"):
		return "files are not taken, only names of packages"
	}
	return ""
}

// parseRequirement reads the text of a Requires-Dist field or of a request. The old form with brackets around the versions is read as well.
func parseRequirement(text string) (requirement, error) {
	spec, mark, marked := strings.Cut(text, ";")
	spec = strings.TrimSpace(spec)
	m := requirementHead.FindStringSubmatchIndex(spec)
	if m == nil {
		return requirement{}, errors.New("it begins with no package name")
	}
	r := requirement{text: strings.TrimSpace(text), name: normalName(spec[m[2]:m[3]])}
	var err error
	if m[4] >= 0 {
		if r.extras, err = parseExtras(spec[m[4]:m[5]]); err != nil {
			return requirement{}, err
		}
	}
	rest := spec[m[1]:]
	if strings.HasPrefix(rest, "@") {
		return requirement{}, errors.New("it is a URL")
	}
	if strings.HasPrefix(rest, "(") && strings.HasSuffix(rest, ")") {
		rest = rest[1 : len(rest)-1]
	}
	if r.specs, err = parseSpecifiers(rest); err != nil {
		return requirement{}, err
	}
	if marked {
		r.marker, err = parseMarker(mark)
	}
	return r, err
}

func parseExtras(list string) (extras []string, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	for e := range strings.SplitSeq(list, ",") {
		if e = strings.TrimSpace(e); !distName.MatchString(e) {
			return nil, errors.New("its extras cannot be read")
		}
		if e = normalName(e); !has(extras, e) {
			extras = append(extras, e)
		}
	}
	sort.Strings(extras)
	return extras, nil
}

// String is the requirement as tools read it: nothing of the text that was not understood is in it.
func (r requirement) String() string {
	s := r.name
	if len(r.extras) > 0 {
		s += "[" + strings.Join(r.extras, ",") + "]"
	}
	s += r.specs.String()
	if r.marker != nil {
		s += " ; " + r.marker.String()
	}
	return s
}

// applies says whether the marker holds for an interpreter, with one of the extras asked for.
func (r requirement) applies(env markerValues, extras ...string) bool {
	if r.marker == nil {
		return true
	}
	if r.marker.holds(env, "") {
		return true
	}
	for _, e := range extras {
		if r.marker.holds(env, e) {
			return true
		}
	}
	return false
}
