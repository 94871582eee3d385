package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// shape is what the value of a key looks like in a file.
type shape int

const (
	oneValue  shape = iota
	manyWords       // a list
	manyPairs       // names with a value each
)

// settable are the keys that Set knows, and hidden from it what has a form of its own: credentials and hooks are written by hand.
var settable = map[string]shape{
	"env":             oneValue,
	"sandbox.backend": oneValue, "sandbox.network": oneValue, "sandbox.project": oneValue, "sandbox.links": oneValue, "sandbox.gpu": oneValue, "sandbox.debug": oneValue,
	"sandbox.read": manyWords, "sandbox.write": manyWords, "sandbox.hide": manyWords, "sandbox.islands": manyWords,
	"sandbox.forward": manyWords, "sandbox.publish": manyWords, "sandbox.env.pass": manyWords, "sandbox.env.set": manyPairs,
	"sandbox.limits.memory": oneValue, "sandbox.limits.processes": oneValue, "sandbox.limits.cpus": oneValue,
	"sandbox.limits.tmp": oneValue, "sandbox.limits.shm": oneValue, "sandbox.limits.best_effort": oneValue,
	"egress.groups": manyWords, "egress.allow": manyWords, "egress.allow_also": manyWords, "egress.deny": manyWords,
	"egress.allow_inward": manyPairs, "egress.pin": manyPairs,
	"egress.screen": oneValue, "egress.close_on_deny": oneValue, "egress.log": oneValue,
	"egress.bounds.connections": oneValue, "egress.bounds.head": oneValue, "egress.bounds.fields": oneValue,
	"egress.bounds.head_time": oneValue, "egress.bounds.dial": oneValue, "egress.bounds.idle": oneValue,
	"install.approve": oneValue, "install.prefer": oneValue, "install.source": oneValue, "install.min_age": oneValue, "install.index": oneValue, "install.uv": oneValue,
	"restart.when": oneValue,
}

// Key is the full name of a key that Set can change, from that or from its end: "memory" is sandbox.limits.memory.
func Key(name string) (string, error) {
	var found []string
	for key := range settable {
		if key == name {
			return key, nil
		}
		if strings.HasSuffix(key, "."+name) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", errors.New(unknown("key", name, slices.Sorted(maps.Keys(settable))))
	}
	return "", fmt.Errorf("key %s can be %s", quote(name), strings.Join(found, " or "))
}

// Set writes a key of the folder's entry: one value, the words of a list in the place of those that the entry has, or NAME=VALUE for each name to set.
// Relative paths start at the folder of Sources.
func Set(key string, values ...string) Change {
	return Change{apply: func(d *draft) error {
		full, err := Key(key)
		if err != nil {
			return err
		}
		m, name := d.holder(full)
		switch settable[full] {
		case oneValue:
			if len(values) != 1 {
				return fmt.Errorf("%s takes one value, not %d", full, len(values))
			}
			d.set(m, name, scalarNode(values[0]))
		case manyWords:
			d.set(m, name, listNode(d.words(full, values)...))
		case manyPairs:
			return d.setPairs(d.within(m, name, 0), full, values)
		}
		return nil
	}}
}

// Unset takes a key out of the folder's entry, or of a key with names those that are given.
func Unset(key string, names ...string) Change {
	return Change{apply: func(d *draft) error {
		full, err := Key(key)
		if err != nil {
			return err
		}
		if len(names) > 0 && settable[full] != manyPairs {
			return fmt.Errorf("%s is taken out as a whole", full)
		}
		steps := strings.Split(full, ".")
		m := d.peek(steps[:len(steps)-1]...)
		if len(names) == 0 && m != nil {
			d.cut(m, steps[len(steps)-1])
		}
		if m = peek(m, steps[len(steps)-1]); m != nil {
			for _, name := range names {
				d.cut(m, name)
			}
		}
		return nil
	}}
}

// holder is the mapping that a key stands in, made when it is missing.
func (d *draft) holder(full string) (*yaml.Node, string) {
	steps := strings.Split(full, ".")
	m := d.place()
	for _, s := range steps[:len(steps)-1] {
		m = d.within(m, s, 0)
	}
	return m, steps[len(steps)-1]
}

func (d *draft) setPairs(m *yaml.Node, full string, values []string) error {
	if len(values) == 0 {
		return fmt.Errorf("%s takes NAME=VALUE", full)
	}
	for _, v := range values {
		name, text, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return fmt.Errorf("%s takes NAME=VALUE", full) // what was given may be a secret
		}
		d.set(m, name, scalarNode(text))
	}
	return nil
}

// words are the elements of a list; paths are written so that they mean the same wherever they are read.
func (d *draft) words(full string, values []string) []string {
	if !slices.Contains([]string{"sandbox.read", "sandbox.write", "sandbox.hide", "sandbox.islands"}, full) {
		return values
	}
	p := paths{home: d.paths.home, base: d.sources.Folder}
	var out []string
	for _, v := range values {
		if path, err := p.absolute(v); err == nil {
			v = filepath.ToSlash(shortAsWritten(p, path))
		}
		out = append(out, v)
	}
	return out
}

// shortAsWritten leaves links alone: they are followed when a kernel starts.
func shortAsWritten(p paths, path string) string {
	if rel, err := filepath.Rel(p.home, path); p.home != "" && err == nil && within(path, p.home) {
		return filepath.Join("~", rel)
	}
	return path
}
