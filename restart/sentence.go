package restart

import (
	"slices"
	"strings"
)

// String is a sentence without its full stop. Names and versions stand in it as packages wrote them: who shows it makes foreign text safe.
func (c Change) String() string {
	switch head := c.head(); {
	case c.Class == Environment:
		return or(c.Detail, "the environment around the packages has changed: "+c.Name)
	case c.Detail == "":
		return head
	default:
		return head + " (" + c.Detail + ")"
	}
}

func (c Change) head() string {
	from, to := titled(c.Name, c.From, c.FromOwner), spaced(c.Name, c.To)
	switch c.Class {
	case Added:
		return to + " is new"
	case AddedAtStart:
		return to + " is new and can be imported after a restart"
	case Shadowing, Clobber:
		return to + or(c.collision(), " is new")
	case Removed:
		return spaced(c.Name, c.From) + " is gone"
	case Uncovered:
		return spaced(c.Name, c.From) + " is gone and the system's " + or(c.To, "copy") + " takes its place"
	case Relocated:
		return spaced(c.Name, c.From) + " is the same and now " + whose(c.ToOwner)
	case AlreadyThere:
		return titled(c.Name, or(c.To, c.From), or(c.ToOwner, c.FromOwner)) + " is there already"
	default:
		return c.moved(from)
	}
}

// collision is said when no detail says with what.
func (c Change) collision() string {
	switch {
	case c.Detail != "":
		return ""
	case c.Class == Clobber:
		return " is new and has files that another package has as well"
	default:
		return " is new and takes over modules that came from elsewhere"
	}
}

func (c Change) moved(from string) string {
	switch {
	case c.FromOwner == OwnerBase && c.ToOwner == OwnerEnv && c.From == c.To:
		return from + " is now covered by another build of " + c.To
	case c.FromOwner == OwnerBase && c.ToOwner == OwnerEnv:
		return from + " is now covered by " + c.To
	case c.From == c.To:
		return spaced(c.Name, c.To) + " is now another build of the same version"
	default:
		return spaced(c.Name, c.From) + " → " + c.To
	}
}

func whose(owner string) string {
	if owner == OwnerEnv {
		return "in the environment itself"
	}
	return "the system's copy"
}

func title(p *Package) string { return titled(p.Name, p.Version, p.Owner) }

func titled(name, version, owner string) string {
	if owner == OwnerBase {
		return spaced(name, version) + " (the system's)"
	}
	return spaced(name, version)
}

func spaced(name, version string) string { return strings.TrimSpace(name + " " + version) }

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// list is "a", "a and b", "a, b and c".
func list(items []string) string {
	items = unique(items)
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

func unique(items []string) []string {
	var out []string
	for _, item := range items {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
