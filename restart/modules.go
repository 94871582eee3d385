package restart

import (
	"slices"
	"strings"
)

// A provider is one module of one package.
type provider struct {
	p      *Package
	name   string // of the package, normalised
	module string
}

// modules finds the providers of a module, of what it lies in and of what lies in it, without looking at its siblings: a namespace can have hundreds.
type modules struct {
	exact   map[string][]provider
	below   map[string][]provider // by every parent
	folders map[string][]string   // where the parts of a top module lie
}

// index takes in the modules below these tops only: most differences concern few.
func index(v *view, tops map[string]bool) *modules {
	m := &modules{exact: map[string][]provider{}, below: map[string][]provider{}, folders: map[string][]string{}}
	if len(tops) == 0 {
		return m
	}
	for _, name := range v.names {
		p := v.byName[name]
		for _, module := range p.Modules {
			if top := topOf(module); tops[top] {
				m.add(top, provider{p, name, module})
			}
		}
	}
	return m
}

func (m *modules) add(top string, one provider) {
	m.exact[one.module] = append(m.exact[one.module], one)
	for _, parent := range parents(one.module) {
		m.below[parent] = append(m.below[parent], one)
	}
	if !slices.Contains(m.folders[top], one.p.Folder) {
		m.folders[top] = append(m.folders[top], one.p.Folder)
	}
}

// related are the providers of the module, of its parents and of what lies in it.
func (m *modules) related(module string) []provider {
	out := m.under(module)
	for _, parent := range parents(module) {
		out = append(out, m.exact[parent]...)
	}
	return out
}

func (m *modules) under(module string) []provider {
	return slices.Concat(m.exact[module], m.below[module])
}

// parents of a/b/c are a/b and a.
func parents(module string) []string {
	var out []string
	for {
		end := strings.LastIndexByte(module, '/')
		if end < 0 {
			return out
		}
		module = module[:end]
		out = append(out, module)
	}
}

func topOf(module string) string {
	top, _, _ := strings.Cut(module, "/")
	return top
}

func dotted(module string) string { return strings.ReplaceAll(module, "/", ".") }
