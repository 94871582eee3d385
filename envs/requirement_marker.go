package envs

import (
	"errors"
	"fmt"
	"strings"
)

// markerValues are the variables of PEP 508 for one interpreter. A variable that is not among them is not known, and what compares it holds.
type markerValues map[string]string

// marker is a condition of PEP 508.
type marker interface {
	holds(env markerValues, extra string) bool
	mentionsExtra() bool
	String() string
}

type (
	markerAnd struct{ a, b marker }
	markerOr  struct{ a, b marker }
	markerIs  struct {
		left, op, right string
		leftIsVariable  bool
		rightIsVariable bool
	}
)

func (m markerAnd) holds(env markerValues, extra string) bool {
	return m.a.holds(env, extra) && m.b.holds(env, extra)
}

func (m markerOr) holds(env markerValues, extra string) bool {
	return m.a.holds(env, extra) || m.b.holds(env, extra)
}

func (m markerAnd) mentionsExtra() bool { return m.a.mentionsExtra() || m.b.mentionsExtra() }
func (m markerOr) mentionsExtra() bool  { return m.a.mentionsExtra() || m.b.mentionsExtra() }
func (m markerIs) mentionsExtra() bool {
	return m.leftIsVariable && m.left == "extra" || m.rightIsVariable && m.right == "extra"
}

func (m markerAnd) String() string { return inBrackets(m.a) + " and " + inBrackets(m.b) }
func (m markerOr) String() string  { return m.a.String() + " or " + m.b.String() }

func inBrackets(m marker) string {
	if _, either := m.(markerOr); either {
		return "(" + m.String() + ")"
	}
	return m.String()
}

func (m markerIs) String() string {
	return operand(m.left, m.leftIsVariable) + " " + m.op + " " + operand(m.right, m.rightIsVariable)
}

func operand(s string, variable bool) string {
	switch {
	case variable:
		return s
	case strings.Contains(s, "'"):
		return `"` + s + `"`
	}
	return "'" + s + "'"
}

func (m markerIs) holds(env markerValues, extra string) bool {
	left, known := m.value(m.left, m.leftIsVariable, env, extra)
	right, known2 := m.value(m.right, m.rightIsVariable, env, extra)
	if !known || !known2 {
		return true
	}
	if m.mentionsExtra() {
		left, right = normalName(left), normalName(right)
	}
	switch m.op {
	case "in":
		return strings.Contains(right, left)
	case "not in":
		return !strings.Contains(right, left)
	}
	if s, ok := parseSpecifier(m.op + right); ok && m.aboutVersions() {
		if v, ok := parsePyVersion(left); ok {
			return s.allows(v)
		}
	}
	return compareText(left, m.op, right)
}

func (m markerIs) value(s string, variable bool, env markerValues, extra string) (string, bool) {
	switch {
	case !variable:
		return s, true
	case s == "extra":
		return extra, true
	}
	v, ok := env[s]
	return v, ok
}

func (m markerIs) aboutVersions() bool {
	return strings.HasSuffix(m.left+" "+m.right, "_version") || strings.Contains(m.left+" ", "_version ")
}

func compareText(a, op, b string) bool {
	switch op {
	case "==", "===":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	}
	return false
}

var markerVariables = []string{
	"python_version", "python_full_version", "os_name", "sys_platform", "platform_release", "platform_system", "platform_version", "platform_machine",
	"platform_python_implementation", "implementation_name", "implementation_version", "extra",
}

// parseMarker reads a whole condition.
func parseMarker(text string) (marker, error) {
	p := markerParser{rest: text}
	m, err := p.or(0)
	if err == nil && strings.TrimSpace(p.rest) != "" {
		err = errors.New("more follows")
	}
	if err != nil {
		return nil, fmt.Errorf("what follows the ';' is no environment marker: %w", err)
	}
	return m, nil
}

type markerParser struct{ rest string }

const markerDeepest = 50

func (p *markerParser) or(depth int) (marker, error) {
	m, err := p.and(depth)
	for err == nil && p.word("or") {
		var b marker
		b, err = p.and(depth)
		m = markerOr{m, b}
	}
	return m, err
}

func (p *markerParser) and(depth int) (marker, error) {
	m, err := p.one(depth)
	for err == nil && p.word("and") {
		var b marker
		b, err = p.one(depth)
		m = markerAnd{m, b}
	}
	return m, err
}

func (p *markerParser) one(depth int) (marker, error) {
	if depth > markerDeepest {
		return nil, errors.New("too many brackets")
	}
	if p.text("(") {
		m, err := p.or(depth + 1)
		if err == nil && !p.text(")") {
			err = errors.New("a bracket is not closed")
		}
		return m, err
	}
	var m markerIs
	var err error
	if m.left, m.leftIsVariable, err = p.operand(); err != nil {
		return nil, err
	}
	if m.op = p.operator(); m.op == "" {
		return nil, errors.New("a comparison is missing")
	}
	m.right, m.rightIsVariable, err = p.operand()
	if err == nil && !m.leftIsVariable && !m.rightIsVariable {
		err = errors.New("it compares two texts")
	}
	return m, err
}

func (p *markerParser) operand() (value string, variable bool, err error) {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest != "" && (p.rest[0] == '\'' || p.rest[0] == '"') {
		end := strings.IndexByte(p.rest[1:], p.rest[0])
		if end < 0 {
			return "", false, errors.New("a quote is not closed")
		}
		value, p.rest = p.rest[1:1+end], p.rest[2+end:]
		return value, false, nil
	}
	for _, v := range markerVariables {
		if p.word(v) {
			return v, true, nil
		}
	}
	return "", false, errors.New("a variable or a quoted text is missing")
}

func (p *markerParser) operator() string {
	for _, op := range []string{"===", "==", "!=", "~=", "<=", ">=", "<", ">"} {
		if p.text(op) {
			return op
		}
	}
	if p.word("in") {
		return "in"
	}
	if p.word("not") && p.word("in") {
		return "not in"
	}
	return ""
}

func (p *markerParser) text(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.rest, " \t"), s)
	if ok {
		p.rest = rest
	}
	return ok
}

// word is text that no letter follows.
func (p *markerParser) word(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.rest, " \t"), s)
	if !ok || rest != "" && (rest[0] == '_' || rest[0] >= 'a' && rest[0] <= 'z' || rest[0] >= '0' && rest[0] <= '9') {
		return false
	}
	p.rest = rest
	return true
}
