package sandbox

import (
	"path/filepath"
	"sort"
	"strings"
)

// islandNames are folders that the host acts on later: git runs what a repository's configuration names, editors and shells run what they find in an
// environment or in their own settings.
var islandNames = []string{".git", ".venv", "venv", ".vscode", ".pixi"}

// island is a folder of the host that stays read-only inside a writable grant.
type island struct{ path, grant string }

// writable are the paths that the operator gives for writing, as they were named.
func (p Policy) writable() []string {
	if p.Folder == "" {
		return p.Write
	}
	return append([]string{p.Folder}, p.Write...)
}

// islandsBelow are the paths at which islands of a writable folder would stand.
func islandsBelow(folder string) []string {
	out := make([]string, len(islandNames))
	for i, name := range islandNames {
		out[i] = filepath.Join(folder, name)
	}
	return out
}

// findIslands judges what stands under the known names directly beneath the outermost writable grants, and what the policy names besides. A writable
// grant of exactly that folder lifts its island.
func (c *linux) findIslands() {
	lifted := map[string]bool{}
	var roots []string
	for _, path := range c.p.writable() {
		if e := c.entry(path); e.Kind == EntryFolder {
			lifted[e.Resolved] = true
			roots = append(roots, e.Resolved)
		}
	}
	roots = outermostPaths(roots)
	for _, root := range roots {
		for _, path := range islandsBelow(root) {
			c.judgeIsland(path, root, lifted)
		}
	}
	for _, path := range c.p.Islands {
		c.namedIsland(path, roots, lifted)
	}
}

// judgeIsland takes a real folder alone. A link can be exchanged, whatever is mounted where it leads; and where a file is wanted that is not there by then,
// bubblewrap makes one, through a link that was planted in its place, while for a folder it makes none.
func (c *linux) judgeIsland(path, root string, lifted map[string]bool) {
	e := c.entry(path)
	switch {
	case !e.exists() && e.Link == "" || lifted[path]:
	case e.Link != "":
		c.loose = append(c.loose, quoted(path)+" is a link")
	case e.Kind != EntryFolder:
		c.loose = append(c.loose, quoted(path)+" is no folder")
	case !c.isIsland(path):
		c.islands = append(c.islands, island{path, root})
	}
}

func (c *linux) isIsland(path string) bool {
	for _, i := range c.islands {
		if i.path == path {
			return true
		}
	}
	return false
}

// namedIsland takes only what stands directly beneath a grant. A folder on the way could be renamed from inside, and the island with it; and bubblewrap
// before 0.12 would make a missing folder through whatever stands there by then. One that is not there is no fault: a machine's policy names the same folders
// for everybody.
func (c *linux) namedIsland(path string, roots []string, lifted map[string]bool) {
	if e := c.entry(path); filepath.IsAbs(path) && !e.exists() && e.Link == "" && e.Fault == "" {
		if inAny(filepath.Clean(path), roots) || inAny(e.Resolved, roots) {
			c.warn("%s does not exist and so is not kept read-only: it can be made and changed from inside", quoted(path))
		}
		return
	}
	e, ok := c.folder("island", path)
	if !ok {
		return
	}
	root := ""
	for _, r := range roots {
		if within(e.Resolved, r) {
			root = r
		}
	}
	switch {
	case root == "":
		return // nothing there can be written
	case lifted[e.Resolved]: // a machine's policy may name the one, and its user the other
		c.refuse("island", path, e.Resolved, "is granted for writing as well: it can only be one of them")
	case e.Link != "" || filepath.Dir(e.Resolved) != root:
		c.refuse("island", path, e.Resolved, "is not a folder directly beneath %s, where alone it can be kept read-only", quoted(root))
	default:
		c.judgeIsland(e.Resolved, root, lifted)
	}
}

// onIsland reports whether a path lies in a folder that stays read-only.
func (c *linux) onIsland(path string) bool {
	for _, i := range c.islands {
		if within(path, i.path) {
			return true
		}
	}
	return false
}

// showIslands covers the islands once the grants are there.
func (c *linux) showIslands() {
	for _, i := range c.islands {
		c.add(Mount{Kind: MountReadOnly, Source: i.path, Target: i.path, Island: true, Why: "the host acts on what is in it"})
	}
}

// islandGuarantees name what is held, and what is not: names that appear later are judged at the next start.
func (c *linux) islandGuarantees() {
	var held []string
	for _, i := range c.islands {
		held = append(held, quoted(i.path))
	}
	if len(held) > 0 {
		c.enforced("islands", "%s: read-only, since the host acts on what is in there", strings.Join(held, ", "))
	}
	if len(c.loose) > 0 {
		sort.Strings(c.loose)
		c.lacking("islands", "", "%s: it can be replaced from inside", strings.Join(c.loose, ", "))
	}
	if len(c.p.writable()) > 0 {
		c.lacking("later-islands", "", "a %s or %s that is made inside, or lies deeper in a writable folder, can be changed: the host may act on it, and the next start keeps it read-only where it lies directly beneath one",
			strings.Join(islandNames[:len(islandNames)-1], ", "), islandNames[len(islandNames)-1])
	}
}

// outermostPaths drops every path that lies in another one.
func outermostPaths(paths []string) []string {
	sort.Strings(paths)
	var out []string
	for _, p := range paths {
		if !inAny(p, out) {
			out = append(out, p)
		}
	}
	return out
}
