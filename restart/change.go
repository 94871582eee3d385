package restart

// A Class says what kind of difference a Change is.
type Class string

// The classes. The first four are about names that were not there before.
const (
	Added        Class = "added"          // can be imported at once
	AddedAtStart Class = "added-at-start" // can be imported after a restart: a startup hook, or a folder that is new on the path, makes it visible
	Shadowing    Class = "shadowing"      // a module that came from elsewhere now comes from this package
	Clobber      Class = "clobber"        // it has files that another package has as well
	Changed      Class = "changed"        // other version, or other content of the same version
	Removed      Class = "removed"        // gone, and nothing of that name is left
	Uncovered    Class = "uncovered"      // the environment's own is gone and the inherited one, which differs, is back
	Relocated    Class = "relocated"      // the same content, found in another place
	Environment  Class = "environment"    // the interpreter, the path or a startup hook that no changed package explains
	AlreadyThere Class = "already-there"  // asked for, and there already; never from Diff, which is not told what was asked
)

// Additive says whether a change of this class leaves everything as it is that a running kernel may hold.
func (c Class) Additive() bool {
	switch c {
	case Added, AddedAtStart, Relocated, AlreadyThere:
		return true
	default:
		return false
	}
}

// A Change is the difference of one name between two snapshots.
type Change struct {
	Name      string   `json:"name"`
	From      string   `json:"from,omitempty"` // version before, "" when it was not there
	To        string   `json:"to,omitempty"`   // version after, "" when it is gone
	Class     Class    `json:"class"`
	Detail    string   `json:"detail,omitempty"` // end of a sentence: what the class alone does not say
	FromOwner string   `json:"from_owner,omitempty"`
	ToOwner   string   `json:"to_owner,omitempty"`
	Runtime   bool     `json:"runtime,omitempty"` // part of what the kernel itself runs on (pyzmq, ipykernel, …)
	Touches   []Module `json:"touches"`           // what a kernel may hold loaded of the former state, File being folder/module; nil is not known
}

// Changes are the differences between two snapshots, sorted by name.
type Changes []Change

// Additive says whether a kernel that runs on the former state can run on with the new one.
func (c Changes) Additive() bool { return len(c.breaking()) == 0 }

func (c Changes) breaking() Changes {
	return c.keep(func(one Change) bool { return !one.Class.Additive() })
}

func (c Changes) keep(want func(Change) bool) Changes {
	var out Changes
	for _, one := range c {
		if want(one) {
			out = append(out, one)
		}
	}
	return out
}
