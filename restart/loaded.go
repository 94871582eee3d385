package restart

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// knows takes an empty list for no answer: no interpreter runs without modules.
func (k Kernel) knows() bool { return len(k.Loaded) > 0 }

func (k Kernel) generation() string {
	if k.Generation <= 0 {
		return "an older generation"
	}
	return "generation " + strconv.Itoa(k.Generation)
}

// holds says which loaded modules a change touches, and whether it must be taken to touch any. What is not known touches.
func (k Kernel) holds(one Change) (loaded []Module, touched bool) {
	if one.Touches == nil {
		return nil, true
	}
	if !k.knows() {
		return nil, len(one.Touches) > 0
	}
	for _, m := range k.Loaded {
		if slices.ContainsFunc(one.Touches, m.belongs) {
			loaded = append(loaded, m)
		}
	}
	return loaded, len(loaded) > 0
}

// belongs says whether a loaded module is part of a top module. A file decides where both are known, since a file of the notebook's folder may
// have the name of an installed module; else the name does.
func (m Module) belongs(top Module) bool {
	file := slashed(strings.TrimSuffix(m.File, " (deleted)")) // as the kernel's memory map marks replaced files
	switch {
	case top.File != "" && rooted(file):
		return top.has(file)
	case m.Name != "":
		return m.Name == top.Name || strings.HasPrefix(m.Name, top.Name+".")
	default:
		return mentions(file, "/"+slashed(top.path()))
	}
}

func (m Module) path() string { return strings.ReplaceAll(m.Name, ".", "/") }

// has compares no more of the folder than its last element: one kernel sees a tree below its generation, another where it is current.
func (m Module) has(file string) bool {
	folder := strings.TrimSuffix(slashed(m.File), "/"+m.path())
	return mentions(file, "/"+path.Base(folder)+"/"+m.path())
}

// mentions says whether part stands in file as whole elements, the last one with or without an extension.
func mentions(file, part string) bool {
	file, part = strings.ToLower(file), strings.ToLower(part)
	for {
		_, rest, found := strings.Cut(file, part)
		if !found {
			return false
		}
		if rest == "" || rest[0] == '/' || rest[0] == '.' {
			return true
		}
		file = rest
	}
}

func slashed(file string) string { return strings.ReplaceAll(file, `\`, "/") }

// rooted knows the absolute paths of every system: a snapshot is judged where it was not taken.
func rooted(file string) bool {
	return strings.HasPrefix(file, "/") || len(file) > 2 && file[1] == ':' && file[2] == '/'
}

// naming says which modules decided, at most three by name.
func naming(one Change, loaded []Module) string {
	var names []string
	for _, m := range loaded {
		names = append(names, or(m.Name, m.File))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case len(names) == 0 && one.Class == Environment:
		return ""
	case len(names) == 0:
		return ", and whether this kernel has loaded it is not known"
	case len(names) > 3:
		names = append(names[:3:3], fmt.Sprintf("%d more", len(names)-3))
	}
	return ", and this kernel has loaded " + list(names)
}
