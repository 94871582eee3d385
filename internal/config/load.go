package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxFile is far above what a person writes; a larger file is a mistake or a trap.
const maxFile = 1 << 20

// Sources say what to read. Missing files are valid, and an empty path is a layer that is not there.
type Sources struct {
	Machine string // /etc/kernel-launch/config.yaml; policy.yaml is looked for beside it
	User    string // the operator's own config.yaml
	Env     string // the kernel's environment, which chooses the entry of environments:; empty: the one that the files name, else "default"
	Folder  string // the kernel's working folder, which chooses the entry of folders:; relative paths of flags start here
	Profile string // --profile; empty for none
	Home    string // what "~" stands for
}

// Load reads and merges all layers below the flags and clips the result by the machine's ceiling. The error holds everything that is wrong at once: Faults with file and line,
// *InsecureError, *CeilingError, *ProfileError, or what kept a file from being read. With an error there is no configuration at all.
func Load(s Sources) (*Config, error) {
	user, err := loadFile(s.User, paths{home: s.Home})
	return loadOver(s, user, err)
}

// loadOver is Load with the user's file read already.
func loadOver(s Sources, user *document, errUser error) (*Config, error) {
	p := paths{home: s.Home}
	machine, errMachine := loadFile(s.Machine, p)
	top, errTop := loadCeiling(s.Machine, p)
	if err := join(errTop, errMachine, errUser); err != nil {
		return nil, err
	}
	c, err := merge(s, machine, user)
	if err != nil {
		return nil, err
	}
	c.ceiling = top
	c.clip()
	if err := Faults(c.Unsupported()).err(); err != nil {
		return nil, err
	}
	return c, nil
}

// loadFile returns nil for a file that is not there.
func loadFile(file string, p paths) (*document, error) {
	if file == "" {
		return nil, nil
	}
	data, err := readTrusted(file, self())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, faults := read(file, data, p)
	return d, faults.err()
}

// readTrusted reads a file that nobody but owner and root can change.
func readTrusted(file string, owner int) ([]byte, error) {
	if err := checkTrust(file, owner); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	defer f.Close() // read only: nothing can be lost
	if err := checkOpen(file, f, owner); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if len(data) > maxFile {
		return nil, Faults{{File: file, Line: 1, Problem: fmt.Sprintf("larger than %d bytes", maxFile)}}
	}
	return data, nil
}

// merge replays the layers, weakest first.
func merge(s Sources, docs ...*document) (*Config, error) {
	c := Default()
	c.paths = paths{home: s.Home, base: s.Folder}
	for _, d := range docs {
		if d != nil {
			c.Files = append(c.Files, d.file)
			d.base.on(c)
		}
	}
	for _, sc := range folderScopes(s.Folder, docs) {
		c.Folder = sc.name
		sc.layer.on(c)
	}
	scopes, err := profileScopes(s.Profile, docs)
	for _, sc := range environmentScopes(s.environment(c, scopes), docs) {
		sc.layer.on(c)
	}
	for _, sc := range scopes {
		c.Profile = sc.name
		sc.layer.on(c)
	}
	return c, err
}

// environment is the one that a kernel would run in: the one that was asked for, else what the profile or the folder names.
func (s Sources) environment(c *Config, profile []scope) string {
	named := Config{Env: c.Env}
	for _, sc := range profile {
		for _, ch := range sc.layer {
			if ch.key == "env" {
				ch.apply(&named)
			}
		}
	}
	return cmp.Or(s.Env, named.Env, "default")
}
