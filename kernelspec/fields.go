package kernelspec

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

func (p *parser) argv() {
	m := find(p.members, "argv")
	if m == nil {
		p.fault(0, "argv is missing")
		return
	}
	argv, ok := stringList(m.raw)
	switch {
	case !ok:
		p.fault(m.line, "argv must be a list of strings")
	case len(argv) == 0:
		p.fault(m.line, "argv is empty")
	case argv[0] == "":
		p.fault(m.line, "argv[0] is an empty string")
	}
	for i, arg := range argv {
		if strings.ContainsFunc(arg, unicode.IsControl) {
			p.fault(m.line, "control character in argv[%d]; double the backslashes", i)
		}
	}
	if len(argv) > 0 && !strings.Contains(strings.Join(argv, "\n"), "{connection_file}") {
		p.warn(m.line, "argv has no {connection_file}; the kernel cannot be reached")
	}
	p.spec.Argv = argv
}

func stringList(raw json.RawMessage) ([]string, bool) {
	var list []*string
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return nil, false
	}
	out := make([]string, 0, len(list))
	for _, s := range list {
		if s == nil { // null, which Go would read as ""
			return nil, false
		}
		out = append(out, *s)
	}
	return out, true
}

func (p *parser) string(name string) string {
	m := find(p.members, name)
	if m == nil {
		return ""
	}
	var s *string
	if json.Unmarshal(m.raw, &s) != nil || s == nil {
		p.fault(m.line, "%s must be a string", name)
		return ""
	}
	return *s
}

func (p *parser) interruptMode() {
	m := find(p.members, "interrupt_mode")
	if m == nil || string(m.raw) == "null" {
		return
	}
	mode := p.string("interrupt_mode")
	switch low := strings.ToLower(mode); low {
	case "signal", "message":
		p.spec.InterruptMode = low
	case "":
	default:
		p.fault(m.line, "interrupt_mode %q is neither signal nor message", mode)
	}
}

func (p *parser) env() {
	m := find(p.members, "env")
	if m == nil {
		return
	}
	entries, twice, err := parseMembers(m.raw)
	if err != nil {
		p.fault(m.line, "env must be an object of strings")
		return
	}
	for _, e := range twice {
		p.warn(m.line+e.line-1, "env %s appears twice; the last one counts", plain.Line(e.name, 80))
	}
	p.spec.Env = make(map[string]string, len(entries))
	for _, e := range entries {
		p.variable(m.line+e.line-1, e)
	}
}

func (p *parser) variable(line int, e member) {
	var value *string
	switch {
	case json.Unmarshal(e.raw, &value) != nil || value == nil:
		p.fault(line, "env %s must be a string", plain.Line(e.name, 80))
	case e.name == "" || strings.ContainsAny(e.name, "=\x00") || strings.ContainsRune(*value, 0):
		p.fault(line, "env %q cannot be set", plain.Line(e.name, 80))
	default:
		p.spec.Env[e.name] = *value
	}
}

func (p *parser) metadata() {
	m := find(p.members, "metadata")
	if m == nil {
		return
	}
	if _, _, err := parseMembers(m.raw); err != nil {
		p.fault(m.line, "metadata must be an object")
		return
	}
	p.spec.Metadata = m.raw
}
