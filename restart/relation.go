package restart

import (
	"slices"
	"strings"
)

// A relation is how a module of a new package stands to one of another.
type relation int

const (
	apart     relation = iota // nothing to do with each other, or parts of one PEP 420 namespace
	within                    // the new one is a part of a package that has an __init__
	contested                 // one name, and only one can have it
)

func relate(p *Package, module string, other *Package, theirs string) relation {
	switch {
	case module == theirs:
		return unless(isNamespace(p, module) && isNamespace(other, theirs), contested)
	case inside(theirs, module): // google against their google/protobuf
		return unless(isNamespace(p, module), contested)
	case inside(module, theirs): // google/thing against their google
		return unless(isNamespace(other, theirs), within)
	default:
		return apart
	}
}

func unless(namespace bool, otherwise relation) relation {
	if namespace {
		return apart
	}
	return otherwise
}

func inside(part, whole string) bool { return strings.HasPrefix(part, whole+"/") }

func isNamespace(p *Package, module string) bool { return slices.Contains(p.Namespaces, module) }
