package sandbox

import (
	"path/filepath"
	"strings"
)

// projectMarks are names that a project's root has; "*" stands for the beginning of a name.
var projectMarks = []string{".git", "pyproject.toml", "_quarto.yml", "*.Rproj"}

// secretPrefix begins the names of files in which projects keep passwords: .env, .env.local, .envrc.
const secretPrefix = ".env"

// observeProject finds the root of the project around the policy's folder, strictly below one of the user's homes, and what in it and in the folders
// between must not be seen.
func (l look) observeProject(p Policy, f *Facts) {
	folder := f.Paths[p.Folder]
	if !p.Project || folder.Kind != EntryFolder || !belowAny(folder.Resolved, f.Homes) {
		return
	}
	root := folder.Resolved
	var between []string
	for names := l.allNames(root); !marked(names); {
		if root = filepath.Dir(root); !belowAny(root, f.Homes) {
			return
		}
		names = l.allNames(root)
		between = append(between, secretsOf(root, names)...)
	}
	if f.Project = root; root == folder.Resolved {
		return
	}
	f.Paths[root] = l.lint(root, Entry{Kind: EntryFolder, Resolved: root})
	for _, path := range between {
		f.Paths[path] = l.entry(path)
	}
	f.Secrets = between
}

func secretsOf(folder string, names []string) []string {
	var out []string
	for _, name := range names {
		if strings.HasPrefix(name, secretPrefix) {
			out = append(out, filepath.Join(folder, name))
		}
	}
	return out
}

func belowAny(path string, roots []string) bool {
	for _, r := range roots {
		if below(path, r) {
			return true
		}
	}
	return false
}

func marked(names []string) bool {
	for _, name := range names {
		for _, mark := range projectMarks {
			if ending, any := strings.CutPrefix(mark, "*"); name == mark || any && strings.HasSuffix(name, ending) {
				return true
			}
		}
	}
	return false
}

// project is a grant that nobody asked for by name. Where it cannot be shown it is left out, and said: it never stops a start.
func (c *linux) project() []grant {
	root := c.f.Project
	if !c.p.Project || c.p.Folder == "" || root == "" || root == c.entry(c.p.Folder).Resolved {
		return nil
	}
	if why := c.projectFault(root); why != "" {
		c.warn("the project around the folder is not shown: %s %s", quoted(root), why)
		return nil
	}
	return []grant{{use: "project", path: root, target: root}}
}

func (c *linux) projectFault(root string) string {
	trial := &linux{p: c.p, f: c.f}
	trial.refuseBroad("project", root, root, false)
	trial.refuseOwn("project", root, root)
	for _, err := range trial.faults {
		if e, ok := err.(*PathError); ok && e.Use == "project" {
			return e.Reason
		}
	}
	targets := []string{c.p.homeTarget()}
	for _, t := range append(append([]Tree{}, c.p.Writable...), c.p.Trees...) {
		targets = append(targets, filepath.Clean(t.Target))
	}
	for _, target := range targets {
		if overlap(target, root) {
			return relation(root, target) + " " + quoted(target) + ", where something else is shown"
		}
	}
	return ""
}

// maskProject covers what a project keeps for itself: files of passwords, and sockets, whose listeners would take commands from inside.
func (c *linux) maskProject() {
	root := ""
	for _, g := range c.grants {
		if g.use == "project" && !g.redundant {
			root = g.target
		}
	}
	if root == "" {
		return
	}
	for _, path := range c.f.Secrets {
		if e := c.entry(path); e.exists() && c.named(e.Resolved) == "" {
			c.maskSeen(e, "it may hold passwords")
		}
	}
	for _, name := range c.entry(root).Sockets {
		c.maskSeen(Entry{Kind: EntrySocket, Resolved: filepath.Join(root, name)}, "whoever listens there could be commanded from inside")
	}
}
