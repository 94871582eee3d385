package config

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/kernel-launch/kernel-launch/egress"
)

// commands is a key with a list of commands, each a line or a list of arguments.
func commands(set func(*Config, [][]string)) field { return listOf(readHook, false, set) }

func readHook(r *reader, key string, n *yaml.Node) ([]string, bool) {
	return readCommand(r, key, n, command)
}

func readCommand(r *reader, key string, n *yaml.Node, line func(string) ([]string, error)) ([]string, bool) {
	if n.Kind != yaml.SequenceNode {
		return value(r, key, n, line)
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
			"header":     func(k string, v *yaml.Node) { c.Header, _ = value(r, k, v, stampedHeader) },
			"value_from": func(k string, v *yaml.Node) { c.From = r.valueSource(p, k, v) },
		}, "host", "header", "value_from")
		return c, len(r.faults) == before
	}
}

func (r *reader) valueSource(p paths, key string, n *yaml.Node) ValueSource {
	var s ValueSource
	r.record(key, n, map[string]func(string, *yaml.Node){
		"env": func(k string, v *yaml.Node) {
			s.Env, _ = value(r, k, v, unsaid(variable, "is no name of a variable; the name stands here, not the value"))
		},
		"file":    func(k string, v *yaml.Node) { s.File, _ = value(r, k, v, p.absolute) },
		"command": func(k string, v *yaml.Node) { s.Command, _ = readCommand(r, k, v, tokenCommand) },
	})
	if n.Kind == yaml.MappingNode && len(n.Content) != 2 {
		r.fault(n, key, "must name exactly one of env, file and command")
	}
	return s
}

// unsaid is parse for what stands beside a secret: whoever has put that in the wrong place does not find it in a message, nor in the server's log.
func unsaid[T any](parse func(string) (T, error), problem string) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := parse(s)
		if err != nil {
			err = &secretError{problem}
		}
		return v, err
	}
}

// tokenCommand is a command line that may hold a token.
func tokenCommand(s string) ([]string, error) {
	args, err := command(s)
	if err != nil {
		err = &secretError{say(err)} // which does not repeat it
	}
	return args, err
}

// stampedHeader leaves out what the proxy writes itself: a value for that would never arrive.
func stampedHeader(s string) (string, error) {
	s, err := unsaid(header, "is no name of a header")(s)
	if err == nil && egress.OwnField(s) {
		err = errors.New("is a header that the proxy writes itself")
	}
	return s, err
}

// differing finds a header that two credentials would write for one host: one of them would be ignored.
func (r *reader) differing(key string, n *yaml.Node, all []Credential) {
	for i, c := range all {
		if slices.ContainsFunc(all[:i], func(o Credential) bool {
			return normalRule(o.Host) == normalRule(c.Host) && strings.EqualFold(o.Header, c.Header)
		}) {
			r.fault(n, key, "%s for %s stands there twice", clean(c.Header), clean(c.Host))
		}
	}
}

// readCredentials is the key with all of them.
func readCredentials(p paths) field {
	all := listOf(readCredential(p), false, func(c *Config, v []Credential) { c.Egress.Credentials = v })
	return func(r *reader, l *layer, key string, n *yaml.Node) {
		start := len(*l)
		all(r, l, key, n)
		for _, ch := range (*l)[start:] {
			var c Config
			ch.apply(&c)
			r.differing(key, n, c.Egress.Credentials)
		}
	}
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

var (
	errAddress = errors.New("must be the name of one host, not an address")
	errPort    = errors.New("must be a name without a port; it holds for every port of the host")
)

// exactHost is one name without a wildcard: a credential for a whole domain would go to whoever gets a name in it.
func exactHost(s string) (string, error) {
	t, err := egress.ParseHost(s, 443)
	if err != nil {
		return "", err
	}
	if t.Name == "" {
		return "", errAddress
	}
	if other, err := egress.ParseHost(s, 1); err != nil || other.Port == t.Port {
		return "", errPort
	}
	return s, nil
}
