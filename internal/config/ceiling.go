package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// ceiling is what the machine's administrator has written into policy.yaml. It is held as a configuration in which only the keys count that were
// written: an absent key bounds nothing.
type ceiling struct {
	file  string
	bound *Config
}

// origin is the line of a key; false when it was not written.
func (t *ceiling) origin(key string) (Origin, bool) {
	at := t.bound.origins[key]
	if len(at) == 0 {
		return Origin{}, false
	}
	return at[0], true
}

// HoldBelow makes the ceiling beside machine, the path of the machine's config.yaml, hold for a configuration that was not loaded: Apply clips by it.
func (c *Config) HoldBelow(machine, home string) error {
	if c.ceiling != nil {
		return nil
	}
	top, err := loadCeiling(machine, paths{home: home})
	c.ceiling = top
	return err
}

// loadCeiling returns nil where there is none. What cannot be read stops every launch.
func loadCeiling(machine string, p paths) (*ceiling, error) {
	if machine == "" {
		return nil, nil
	}
	dir := filepath.Dir(machine)
	file := filepath.Join(dir, "policy.yaml")
	switch _, err := os.Lstat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &CeilingError{File: file, Err: err}
	}
	data, err := readKept(file, dir)
	var insecure *InsecureError
	var faults Faults
	switch {
	case errors.As(err, &insecure), errors.As(err, &faults):
		return nil, err
	case err != nil:
		return nil, &CeilingError{File: file, Err: err}
	}
	return readCeiling(file, data, p)
}

// readKept reads a file that this user cannot change, unless the machine's folder is the user's own.
func readKept(file, dir string) ([]byte, error) {
	owner, err := keeper(dir)
	if err != nil {
		return nil, err
	}
	return readTrusted(file, owner)
}

func readCeiling(file string, data []byte, p paths) (*ceiling, error) {
	t := &ceiling{file: file, bound: &Config{placed: map[string]int{}}}
	t.bound.ready()
	root, fault := parse(file, data)
	if fault != nil {
		return nil, Faults{fault}
	}
	if root == nil {
		return t, nil
	}
	r := &reader{file: file, paths: p}
	var l layer
	r.mapping(&l, "", root, ceilingKeys(p))
	l.on(t.bound)
	return t, r.faults.err()
}

// ceilingKeys are the keys of a configuration that can bound one, spelled alike.
func ceilingKeys(p paths) fields {
	box, out, in := sandboxKeys(p), egressKeys(p), installKeys(p)
	box["env"] = section(fields{"pass": written(adding(variable, func(c *Config, v []string) { c.Sandbox.Env.Pass = append(c.Sandbox.Env.Pass, v...) }))})
	box["limits"] = section(each(limitKeys(), written))
	out["bounds"] = section(each(boundKeys(), written))
	out["credentials"] = written(list(exactHost, func(c *Config, v []string) {
		for _, host := range v {
			c.Egress.Credentials = append(c.Egress.Credentials, Credential{Host: host})
		}
	}))
	for _, key := range []string{"allow", "deny", "groups", "allow_inward", "pin", "screen", "close_on_deny", "log"} {
		out[key] = written(out[key])
	}
	for _, key := range []string{"backend", "network", "read", "write", "hide", "project", "islands", "links", "gpu", "forward", "publish", "debug"} {
		box[key] = written(box[key])
	}
	delete(out, "allow_also") // what a ceiling allows stands in one list
	delete(in, "prefer")      // takes nothing away
	keys := fields{"sandbox": section(box), "egress": section(out), "install": section(each(in, written))}
	keys["version"] = scalar(version, func(*Config, int) {})
	for _, key := range []string{"folders", "environments", "profiles", "env", "restart", "hooks"} {
		keys[key] = elsewhere
	}
	return keys
}

// written notes a key's line even when its value is empty: "pin: {}" allows no pin.
func written(read field) field {
	return func(r *reader, l *layer, key string, n *yaml.Node) {
		*l = append(*l, change{key: key, at: r.at(n), adds: true, apply: func(*Config) {}})
		start := len(*l)
		read(r, l, key, n)
		for i := range (*l)[start:] {
			(*l)[start+i].adds = true
		}
	}
}

func each(keys fields, wrap func(field) field) fields {
	for name, read := range keys {
		keys[name] = wrap(read)
	}
	return keys
}

// elsewhere is a key of config.yaml that bounds nobody.
func elsewhere(r *reader, _ *layer, key string, n *yaml.Node) {
	r.fault(n, "", "%s bounds nothing: it belongs into config.yaml", quote(key))
}
