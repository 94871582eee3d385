package config

import (
	"errors"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/kernel-launch/kernel-launch/egress"
)

// commands is a key with a list of commands, each a line or a list of arguments.
func commands(set func(*Config, [][]string)) field { return listOf(readCommand, false, set) }

func readCommand(r *reader, key string, n *yaml.Node) ([]string, bool) {
	if n.Kind != yaml.SequenceNode {
		return value(r, key, n, command)
	}
	var args []string
	before := len(r.faults)
	for _, e := range n.Content {
		if s, ok := r.text(key, e); ok {
			args = append(args, s)
		}
	}
	if len(r.faults) > before {
		return nil, false
	}
	if len(args) == 0 || args[0] == "" {
		r.fault(n, key, "names no command")
		return nil, false
	}
	return args, true
}

// readCredential reads {host, header, value_from: {env|file|command}}; all three are needed.
func readCredential(p paths) func(*reader, string, *yaml.Node) (Credential, bool) {
	return func(r *reader, key string, n *yaml.Node) (Credential, bool) {
		var c Credential
		before := len(r.faults)
		r.record(key, n, map[string]func(string, *yaml.Node){
			"host":       func(k string, v *yaml.Node) { c.Host, _ = value(r, k, v, exactHost) },
			"header":     func(k string, v *yaml.Node) { c.Header, _ = value(r, k, v, header) },
			"value_from": func(k string, v *yaml.Node) { c.From = r.valueSource(p, k, v) },
		}, "host", "header", "value_from")
		return c, len(r.faults) == before
	}
}

func (r *reader) valueSource(p paths, key string, n *yaml.Node) ValueSource {
	var s ValueSource
	r.record(key, n, map[string]func(string, *yaml.Node){
		"env":     func(k string, v *yaml.Node) { s.Env, _ = value(r, k, v, variable) },
		"file":    func(k string, v *yaml.Node) { s.File, _ = value(r, k, v, p.absolute) },
		"command": func(k string, v *yaml.Node) { s.Command, _ = readCommand(r, k, v) },
	})
	if n.Kind == yaml.MappingNode && len(n.Content) != 2 {
		r.fault(n, key, "must name exactly one of env, file and command")
	}
	return s
}

// record reads a mapping that belongs together; needed are the names it cannot do without.
func (r *reader) record(key string, n *yaml.Node, known map[string]func(string, *yaml.Node), needed ...string) {
	seen := map[string]bool{}
	r.entries(key, n, func(name string, k, v *yaml.Node) {
		seen[name] = true
		if read, ok := known[name]; ok {
			read(dotted(key, name), v)
			return
		}
		r.fault(k, key, "%s", unknown("key", name, slices.Collect(maps.Keys(known))))
	})
	if n.Kind != yaml.MappingNode {
		return
	}
	for _, name := range needed {
		if !seen[name] {
			r.fault(n, key, "%q is missing", name)
		}
	}
}

var errAddress = errors.New("must be the name of one host, not an address")

// exactHost is one name without a wildcard: a credential for a whole domain would go to whoever gets a name in it.
func exactHost(s string) (string, error) {
	t, err := egress.ParseHost(s, 443)
	if err != nil {
		return "", err
	}
	if t.Name == "" {
		return "", errAddress
	}
	return s, nil
}
