package config

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// scalar is a key with one value, which a later layer replaces.
func scalar[T any](parse func(string) (T, error), set func(*Config, T)) field {
	return func(r *reader, l *layer, key string, n *yaml.Node) {
		v, ok := value(r, key, n, parse)
		if !ok {
			return
		}
		*l = append(*l, change{key: bare(key), at: r.at(n), apply: func(c *Config) { set(c, v) }})
	}
}

// list is a key with a list, which a later layer replaces.
func list[T any](parse func(string) (T, error), set func(*Config, []T)) field {
	return listOf(func(r *reader, key string, n *yaml.Node) (T, bool) { return value(r, key, n, parse) }, false, set)
}

// adding is a key with a list that a later layer adds to.
func adding[T any](parse func(string) (T, error), add func(*Config, []T)) field {
	return listOf(func(r *reader, key string, n *yaml.Node) (T, bool) { return value(r, key, n, parse) }, true, add)
}

// under is a key that changes the value of another one.
func under(key string, read field) field {
	return func(r *reader, l *layer, written string, n *yaml.Node) {
		start := len(*l)
		read(r, l, written, n)
		for i := range (*l)[start:] {
			(*l)[start+i].key = key
		}
	}
}

func listOf[T any](read func(*reader, string, *yaml.Node) (T, bool), adds bool, use func(*Config, []T)) field {
	return func(r *reader, l *layer, key string, n *yaml.Node) {
		var all []T
		isList := r.items(key, n, func(e *yaml.Node) {
			if v, ok := read(r, key, e); ok {
				all = append(all, v)
			}
		})
		if isList {
			*l = append(*l, change{key: bare(key), at: r.at(n), adds: adds, apply: func(c *Config) { use(c, all) }})
		}
	}
}

// pairs is a key with a mapping whose names are the operator's. A later layer adds to it, and wins where both have a name. Names that become
// the same when they are parsed are a fault: one of them would be ignored.
func pairs[T any](parse func(name, text string) (T, error), same func(string) string, put func(c *Config, name string, v T)) field {
	return func(r *reader, l *layer, key string, n *yaml.Node) {
		first := map[string]string{}
		r.entries(key, n, func(name string, k, v *yaml.Node) {
			p, ok := pair(r, key, k, v, parse)
			if !ok {
				return
			}
			id := same(name)
			if other, twice := first[id]; twice {
				r.fault(k, key, "%s and %s are the same", quote(name), quote(other))
				return
			}
			first[id] = name
			*l = append(*l, change{key: bare(key), at: r.at(k), adds: true, apply: func(c *Config) { put(c, id, p) }})
		})
	}
}

func pair[T any](r *reader, key string, k, v *yaml.Node, parse func(name, text string) (T, error)) (p T, ok bool) {
	text, ok := r.text(key, v)
	if !ok {
		return p, false
	}
	p, err := parse(k.Value, text)
	if err != nil {
		r.fault(k, key, "%s", naming(k.Value, err))
	}
	return p, err == nil
}

// section is a key with keys of its own.
func section(known fields) field {
	return func(r *reader, l *layer, key string, n *yaml.Node) { r.mapping(l, key, n, known) }
}

func value[T any](r *reader, key string, n *yaml.Node, parse func(string) (T, error)) (v T, ok bool) {
	s, ok := r.text(key, n)
	if !ok {
		return v, false
	}
	v, err := parse(s)
	if err != nil {
		r.fault(n, key, "%s", naming(s, err))
		return v, false
	}
	return v, true
}

// naming says which value err is about, unless it does so itself or must not.
func naming(s string, err error) string {
	what := say(err)
	if _, secret := err.(*secretError); secret || strings.Contains(what, clean(s)) {
		return what
	}
	return quote(s) + ": " + what
}

// bare drops the folder or profile from a key: "folders[…].egress.allow" is a value of egress.allow.
func bare(key string) string {
	if i := strings.LastIndex(key, "]."); i >= 0 {
		return key[i+2:]
	}
	return key
}
