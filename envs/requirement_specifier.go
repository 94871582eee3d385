package envs

import (
	"fmt"
	"strings"
)

// specifier is one clause: an operator and a version.
type specifier struct {
	op       string
	text     string // of the version, as written
	version  pyVersion
	wildcard bool
}

type specifiers []specifier

var specifierForm = newForm(`\A(===|==|!=|~=|<=|>=|<|>)\s*(\S+)\z`)

func parseSpecifiers(text string) (list specifiers, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(text, ","), ",") {
		s, ok := parseSpecifier(strings.TrimSpace(part))
		if !ok {
			return nil, fmt.Errorf("%q is no version specifier", part)
		}
		list = append(list, s)
	}
	return list, nil
}

func parseSpecifier(text string) (s specifier, ok bool) {
	m := specifierForm.FindStringSubmatch(text)
	if m == nil {
		return s, false
	}
	s.op, s.text = m[1], m[2]
	if s.op == "===" {
		return s, strings.Trim(s.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.+!_-") == ""
	}
	plain := s.text
	if s.op == "==" || s.op == "!=" {
		plain, s.wildcard = strings.CutSuffix(s.text, ".*")
	}
	s.version, ok = parsePyVersion(plain)
	switch {
	case !ok, s.wildcard && (len(s.version.local) > 0 || s.version.dev != ""), s.op == "~=" && len(s.version.release) < 2:
		return s, false
	case s.op != "==" && s.op != "!=" && len(s.version.local) > 0:
		return s, false
	}
	return s, true
}

func (l specifiers) String() string {
	parts := make([]string, len(l))
	for i, s := range l {
		parts[i] = s.op + s.text
	}
	return strings.Join(parts, ",")
}

// allow says whether a version that is there will do. Unstable ones do: nobody has to be offered what is there already.
func (l specifiers) allow(version string) bool {
	v, ok := parsePyVersion(version)
	for _, s := range l {
		switch {
		case s.op == "===":
			if !strings.EqualFold(s.text, version) {
				return false
			}
		case !ok || !s.allows(v):
			return false
		}
	}
	return true
}

func (s specifier) allows(v pyVersion) bool {
	w := s.version
	switch s.op {
	case "==":
		return s.equals(v)
	case "!=":
		return !s.equals(v)
	case "<=":
		return v.comparePublic(w) <= 0
	case ">=":
		return v.comparePublic(w) >= 0
	case "<":
		return v.comparePublic(w) < 0 && (w.unstable() || !v.unstable() || v.compareBase(w) != 0)
	case ">":
		return v.comparePublic(w) > 0 && (w.post != "" || v.post == "" || v.compareBase(w) != 0)
	}
	return v.comparePublic(w) >= 0 && hasPrefix(v, pyVersion{epoch: w.epoch, release: w.release[:len(w.release)-1]})
}

func (s specifier) equals(v pyVersion) bool {
	switch {
	case s.wildcard:
		return hasPrefix(v, s.version)
	case len(s.version.local) == 0:
		return v.comparePublic(s.version) == 0
	}
	return v.compare(s.version) == 0
}

func hasPrefix(v, prefix pyVersion) bool {
	if v.epoch != prefix.epoch {
		return false
	}
	for i, n := range prefix.release {
		if number(v.release, i) != n {
			return false
		}
	}
	return prefix.pre[0] == "" || v.pre == prefix.pre && v.compareBase(prefix) == 0
}
