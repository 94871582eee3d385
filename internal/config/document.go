package config

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// document is one file: the layer that always holds, and those that hold for a folder or a profile.
type document struct {
	file     string
	base     layer
	folders  []scope
	envs     []scope
	profiles []scope
}

type scope struct {
	name  string // as written
	path  string // of a folder: absolute, links resolved
	layer layer
}

// read checks all of data, whether it would hold here or not: a profile with a fault is found before it is needed.
func read(file string, data []byte, p paths) (*document, Faults) {
	d := &document{file: file}
	root, fault := parse(file, data)
	if fault != nil {
		return nil, Faults{fault}
	}
	if root == nil {
		return d, nil
	}
	r := &reader{file: file, paths: p}
	keys := layerKeys(p)
	keys["version"] = scalar(version, func(*Config, int) {})
	scoped := scopeKeys(p)
	keys["folders"] = func(r *reader, _ *layer, key string, n *yaml.Node) { d.folders = r.scopes(key, n, scoped, r.folder) }
	keys["environments"] = func(r *reader, _ *layer, key string, n *yaml.Node) {
		d.envs = r.scopes(key, n, environmentKeys(p), r.environment)
	}
	keys["profiles"] = func(r *reader, _ *layer, key string, n *yaml.Node) { d.profiles = r.scopes(key, n, scoped, r.profile) }
	r.mapping(&d.base, "", root, keys)
	return d, r.faults
}

func version(s string) (int, error) {
	if s != "1" {
		return 0, fmt.Errorf("version %s is not known here; this is 1", quote(s))
	}
	return 1, nil
}

// namer reads the name of a scope; others are those before it.
type namer func(key, name string, k *yaml.Node, others []scope) (scope, bool)

func (r *reader) scopes(key string, n *yaml.Node, keys fields, name namer) []scope {
	var all []scope
	if isNull(n) {
		return nil
	}
	r.entries(key, n, func(written string, k, v *yaml.Node) {
		s, ok := name(key, written, k, all)
		r.mapping(&s.layer, fmt.Sprintf("%s[%s]", key, clean(written)), v, keys)
		if ok {
			all = append(all, s)
		}
	})
	return all
}

func (r *reader) folder(key, name string, k *yaml.Node, others []scope) (scope, bool) {
	path, err := r.paths.absolute(name)
	if err != nil {
		r.fault(k, key, "%v", err)
		return scope{}, false
	}
	path = resolve(path)
	if i := slices.IndexFunc(others, func(s scope) bool { return s.path == path }); i >= 0 {
		r.fault(k, key, "%s and %s are the same folder", quote(name), quote(others[i].name))
		return scope{}, false
	}
	return scope{name: name, path: path}, true
}

func (r *reader) environment(key, name string, k *yaml.Node, _ []scope) (scope, bool) {
	if _, err := environment(name); err != nil {
		r.fault(k, key, "%v", err)
		return scope{}, false
	}
	return scope{name: name}, true
}

func (r *reader) profile(key, name string, k *yaml.Node, _ []scope) (scope, bool) {
	if !environmentName(name) {
		r.fault(k, key, "%s is no name of a profile: letters, digits, \".\", \"_\" and \"-\", the first a letter or digit, 64 at most", quote(name))
		return scope{}, false
	}
	return scope{name: name}, true
}

// folderScopes returns the entry whose folder holds the working folder most closely; both files can have it, and the machine's comes first.
func folderScopes(folder string, docs []*document) []scope {
	if folder == "" {
		return nil
	}
	folder = resolve(folder)
	var best []scope
	for _, d := range docs {
		if d == nil {
			continue
		}
		for _, s := range d.folders {
			switch {
			case !within(folder, s.path) || len(best) > 0 && len(s.path) < len(best[0].path):
			case len(best) > 0 && s.path == best[0].path:
				best = append(best, s)
			default:
				best = []scope{s}
			}
		}
	}
	return best
}

// environmentScopes returns the entries of that environment, the machine's first.
func environmentScopes(name string, docs []*document) (found []scope) {
	for _, d := range docs {
		if d == nil {
			continue
		}
		for _, s := range d.envs {
			if s.name == name {
				found = append(found, s)
			}
		}
	}
	return found
}

// profileScopes returns the entries of that name, the machine's first.
func profileScopes(name string, docs []*document) ([]scope, error) {
	if name == "" {
		return nil, nil
	}
	var found []scope
	var known []string
	for _, d := range docs {
		if d == nil {
			continue
		}
		for _, s := range d.profiles {
			known = append(known, s.name)
			if s.name == name {
				found = append(found, s)
			}
		}
	}
	if found == nil {
		slices.Sort(known)
		return nil, &ProfileError{Profile: name, Known: slices.Compact(known)}
	}
	return found, nil
}
