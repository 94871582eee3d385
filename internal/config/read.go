package config

import (
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// maxShown bounds what a message repeats of a value.
const maxShown = 120

func clean(s string) string { return plain.Line(s, maxShown) }
func quote(s string) string { return `"` + clean(s) + `"` }

// say is clean for a whole sentence of another package.
func say(err error) string { return plain.Line(err.Error(), 600) }

// change is one value that a layer brings. Replaying the layers in their order gives the configuration.
type change struct {
	key   string
	at    Origin
	adds  bool // keeps what lower layers brought
	apply func(*Config)
}

type layer []change

// on applies what replaces before what adds: the order of the keys in a file means nothing.
func (l layer) on(c *Config) {
	for _, adds := range []bool{false, true} {
		for _, ch := range l {
			if ch.adds != adds {
				continue
			}
			ch.apply(c)
			if !adds {
				c.origins[ch.key] = nil
			}
			c.origins[ch.key] = append(c.origins[ch.key], ch.at)
		}
	}
}

// reader collects every fault of one file.
type reader struct {
	file   string
	paths  paths
	faults Faults
}

func (r *reader) fault(n *yaml.Node, key, format string, args ...any) {
	r.faults = append(r.faults, &FaultError{File: r.file, Line: n.Line, Key: key, Problem: fmt.Sprintf(format, args...)})
}

func (r *reader) at(n *yaml.Node) Origin { return Origin{File: r.file, Line: n.Line} }

// field reads the node of one key; key is the dotted name that faults and origins carry.
type field func(r *reader, l *layer, key string, n *yaml.Node)

type fields map[string]field

// mapping reads the keys of n, or nothing when n is empty: a section whose lines are all comments is no mistake.
func (r *reader) mapping(l *layer, key string, n *yaml.Node, known fields) {
	if isNull(n) {
		return
	}
	r.entries(key, n, func(name string, k, v *yaml.Node) {
		read, ok := known[name]
		if !ok {
			r.fault(k, key, "%s", unknown("key", name, slices.Collect(maps.Keys(known))))
			return
		}
		read(r, l, dotted(key, name), v)
	})
}

// entries calls use once for each key of the mapping n and reports what is no mapping, no plain key, or there twice.
func (r *reader) entries(key string, n *yaml.Node, use func(name string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fault(n, key, "must be a mapping, not %s", kindOf(n))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			r.fault(k, key, "a key must be text, not %s", kindOf(k))
			continue
		}
		if line, twice := first[k.Value]; twice {
			r.fault(k, key, "key %s is there twice (first on line %d)", quote(k.Value), line)
			continue
		}
		first[k.Value] = k.Line
		use(k.Value, k, v)
	}
}

// text returns the scalar n as it is written.
func (r *reader) text(key string, n *yaml.Node) (string, bool) {
	switch {
	case n.Kind == yaml.AliasNode:
		r.fault(n, key, "an alias (*%s) is not read here: write the value out", clean(n.Value))
	case n.Kind != yaml.ScalarNode:
		r.fault(n, key, "must be one value, not %s", kindOf(n))
	case n.Style&yaml.TaggedStyle != 0:
		r.fault(n, key, "a tag (%s) is not read here", clean(n.Tag))
	case isNull(n) && n.Value == "~":
		r.fault(n, key, "has no value: a bare ~ means nothing in YAML, the home folder is \"~\" in quotes")
	case isNull(n):
		r.fault(n, key, "has no value")
	default:
		return n.Value, true
	}
	return "", false
}

// items calls use for each element of the list n.
func (r *reader) items(key string, n *yaml.Node, use func(*yaml.Node)) bool {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, key, "must be a list (\"[]\" for none), not %s", kindOf(n))
		return false
	}
	for _, e := range n.Content {
		use(e)
	}
	return true
}

func dotted(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}
