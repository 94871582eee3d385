package restart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The names of changes that no package has.
const (
	nameInterpreter = "interpreter"
	namePath        = "path"
)

func (c *comparison) environment() {
	if a, b := c.before.Interpreter, c.after.Interpreter; a != b || c.before.Language != c.after.Language {
		c.found = append(c.found, Change{Name: nameInterpreter, From: a, To: b, Class: Environment, Detail: fmt.Sprintf("the interpreter was %q (%s) and is %q (%s)", a, c.before.Language, b, c.after.Language)})
	}
	if detail := c.path(); detail != "" {
		c.found = append(c.found, Change{Name: namePath, Class: Environment, Detail: detail})
	}
	c.hooks()
}

// path compares the entries that both have, and those of one side that no package explains which came or went.
func (c *comparison) path() string {
	gone := c.unexplained(c.before, c.after)
	fresh := c.unexplained(c.after, c.before)
	switch {
	case len(gone)+len(fresh) > 0:
		return "modules are imported from other folders: " + differing(gone, fresh)
	case !slices.Equal(kept(c.before, c.after), kept(c.after, c.before)):
		return "the folders that modules are imported from are in another order"
	default:
		return ""
	}
}

func (c *comparison) unexplained(v, other *view) []string {
	var out []string
	for _, entry := range slices.Compact(slices.Clone(v.Path)) {
		if _, known := other.order[entry]; !known && !c.explained(v, entry) {
			out = append(out, entry)
		}
	}
	return out
}

// explained says that a package which came, went or moved brings the entry: it lies there, or has a hook, which can add any folder.
func (c *comparison) explained(v *view, entry string) bool {
	for name := range c.moved {
		if p := v.byName[name]; p != nil && (p.Hooks || p.Folder == entry) {
			return true
		}
	}
	return false
}

// kept are the entries of v that the other has too, each where it stands first.
func kept(v, other *view) []string {
	var out []string
	for i, entry := range v.Path {
		if _, known := other.order[entry]; known && v.order[entry] == i {
			out = append(out, entry)
		}
	}
	return out
}

func differing(gone, fresh []string) string {
	var parts []string
	if len(fresh) > 0 {
		parts = append(parts, list(fresh)+" came")
	}
	if len(gone) > 0 {
		parts = append(parts, list(gone)+" went")
	}
	return strings.Join(parts, ", ")
}

type hookKey struct{ name, path string }

func (c *comparison) hooks() {
	old, now := byPlace(c.before.Hooks), byPlace(c.after.Hooks)
	all := maps.Clone(old)
	maps.Copy(all, now)
	for key := range all {
		a, was := old[key]
		b, is := now[key]
		if was == is && a.SHA256 == b.SHA256 || c.brought(c.before, a) || c.brought(c.after, b) {
			continue
		}
		c.found = append(c.found, Change{Name: key.name, Class: Environment, Detail: "the startup hook " + key.name + " " + fate(was, is) + ", and no package that changed explains it"})
	}
}

func byPlace(hooks []Hook) map[hookKey]Hook {
	out := make(map[hookKey]Hook, len(hooks))
	for _, hook := range hooks {
		out[hookKey{hook.Name, hook.Path}] = hook
	}
	return out
}

func (c *comparison) brought(v *view, hook Hook) bool {
	return hook.Owner != "" && c.moved[normalName(v.Language, hook.Owner)]
}

func fate(was, is bool) string {
	switch {
	case !was:
		return "is new"
	case !is:
		return "is gone"
	default:
		return "has changed"
	}
}
