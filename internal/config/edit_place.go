package config

import (
	"errors"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// path finds the mapping that a scope stands for, and how it is called.
func (sc Scope) path(d *draft) (path []string, place string, err error) {
	switch {
	case sc.Everywhere:
		return nil, "", nil
	case sc.Env != "":
		_, err := environment(sc.Env)
		return []string{"environments", sc.Env}, sc.Env, err
	case d.sources.Folder == "":
		return nil, "", errors.New("no folder is named")
	}
	name := d.folderEntry()
	return []string{"folders", name}, name, nil
}

// place is the mapping of the scope, made when it is missing.
func (d *draft) place() *yaml.Node {
	m := d.root()
	for i, name := range d.path {
		style := yaml.Style(0)
		if i == 1 && d.path[0] == "folders" {
			style = yaml.DoubleQuotedStyle
		}
		m = d.within(m, name, style)
	}
	return m
}

// peek follows keys below the scope without making any; nil when one is not there.
func (d *draft) peek(keys ...string) *yaml.Node { return peek(peek(d.root(), d.path...), keys...) }

// folderEntry is the name of the entry to change: the one that holds for the folder now, whichever file has it. An entry of the folder's own would
// hold in its place, and take away what that one gives.
func (d *draft) folderEntry() string {
	path := resolve(d.sources.Folder)
	if best := folderScopes(path, []*document{d.machine, d.user}); len(best) > 0 {
		path = best[0].path
	}
	if d.user != nil {
		for _, s := range d.user.folders {
			if s.path == path {
				return s.name
			}
		}
	}
	return d.paths.short(path)
}

// short writes a path below home with "~".
func (p paths) short(path string) string {
	home := p.home
	if home == "" {
		return path
	}
	for _, h := range []string{home, resolve(home)} {
		if rel, err := filepath.Rel(h, path); err == nil && within(path, h) {
			return filepath.ToSlash(filepath.Join("~", rel))
		}
	}
	return path
}
