package launcher

import (
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Bounds of one look: it must stay cheaper than a start.
const (
	maxNames    = 10_000 // of one folder
	maxInside   = 200    // of a folder in it
	maxRemnants = 100    // new folders that are looked into
)

// noteAll looks at the folders that a kernel by this plan can write and others use; what is its own alone does not matter to them. What an earlier look left
// out is left out again, and nothing besides: a .git that a kernel made is sealed once it was restarted.
func noteAll(p *Plan, before notes) notes {
	sealed := map[string]bool{}
	for _, m := range p.Sandbox.Mounts {
		sealed[m.Source] = sealed[m.Source] || m.Island
	}
	out := notes{}
	for _, m := range p.Sandbox.Mounts {
		if m.Kind == sandbox.MountReadWrite && m.Source != p.KeptHome {
			seals := sealed
			if earlier, ok := before[m.Source]; ok {
				seals = earlier.sealed
			}
			out[m.Source] = note(m.Source, seals)
		}
	}
	return out
}

// note looks at one folder. Names without a star are asked for even where there are too many to list.
func note(folder string, sealed map[string]bool) folderNotes {
	n := folderNotes{obeyed: map[string]mark{}, folders: map[string]bool{}, sealed: sealed}
	for _, o := range obeyedNames {
		for _, name := range o.names {
			if !strings.Contains(name, "*") {
				n.look(folder, name, sealed)
			}
		}
	}
	for _, e := range list(folder, maxNames) {
		if e.IsDir() {
			n.folders[e.Name()] = true
		}
		if _, seen := n.obeyed[e.Name()]; !seen {
			n.look(folder, e.Name(), sealed)
		}
	}
	return n
}

func (n folderNotes) look(folder, name string, sealed map[string]bool) {
	o, ok := wanted(name)
	path := filepath.Join(folder, name)
	if !ok || sealed[path] {
		return
	}
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	n.obeyed[name] = markOf(info)
	if info.IsDir() {
		n.obeyed[name] = markOfFolder(path, info, o.place)
	}
}

func list(folder string, most int) []fs.DirEntry {
	d, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(most) // a part is better than nothing
	return entries
}

func markOf(info fs.FileInfo) mark {
	m := mark{mode: info.Mode(), size: info.Size(), modified: uint64(info.ModTime().UnixNano())}
	m.inode, m.changed = identity(info)
	return m
}

// markOfFolder leaves the folder's own times out: they change with every file in it.
func markOfFolder(path string, info fs.FileInfo, place bool) mark {
	m := mark{mode: info.Mode()}
	m.inode, _ = identity(info)
	if place {
		return m
	}
	h := fnv.New64a()
	entries := list(path, maxInside)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintln(h, e.Name(), markOf(info))
		}
	}
	m.content = h.Sum64()
	return m
}

// remnants are new folders that look like the work of a program that could not make a link.
func remnants(folders []string) []string {
	var out []string
	for _, f := range folders[:min(len(folders), maxRemnants)] {
		if why := remnant(f); why != "" {
			out = append(out, plain.Line(f, 400)+" "+why)
		}
	}
	return out
}

func remnant(f string) string {
	switch {
	case present(f, "lib") && present(f, "include") && !present(f, "pyvenv.cfg") && !present(f, "bin"): // venv makes its link lib64 before anything else
		return "is an environment that could not be finished"
	case present(f, "pyvenv.cfg") && !present(f, "bin/python"):
		return "is an environment without its interpreter"
	case filepath.Base(f) == "node_modules" && present(f, ".package-lock.json") && !present(f, ".bin"):
		return "may be without the programs of its packages"
	case linkless(f):
		return "is a repository whose links became files with their text"
	}
	return ""
}

// linkless reports whether git noted, when it made the repository, that no link can be made there.
func linkless(f string) bool {
	path := filepath.Join(f, ".git", "config")
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	c, err := os.OpenFile(path, os.O_RDONLY|noWait, 0) // a pipe that has taken its place since would never answer
	if err != nil {
		return false
	}
	defer c.Close()
	b, err := io.ReadAll(io.LimitReader(c, 4<<10))
	return err == nil && strings.Contains(string(b), "symlinks = false")
}

func present(folder, name string) bool {
	_, err := os.Lstat(filepath.Join(folder, name))
	return err == nil
}

// notes are what stood in the folders before the kernel could write there.
func (k *Kernel) notes() notes {
	k.mu.Lock()
	noted := k.noted
	k.mu.Unlock()
	return noted()
}

// noteMore adds the folders that a restart shows besides. Of the others it counts how they were at the first start.
func (k *Kernel) noteMore(p *Plan) {
	all := noteAll(p, nil)
	maps.Copy(all, k.notes())
	k.mu.Lock()
	k.noted = func() notes { return all }
	k.mu.Unlock()
}

// reports say what a kernel leaves behind that concerns others.
func (k *Kernel) reports() []string {
	p := k.Plan()
	before := k.notes()
	after := noteAll(p, before)
	out := changes(before, after)
	if l := p.Sandbox.Landlock; l != nil && l.RefuseLinks {
		out = append(out, unfinished(remnants(appeared(before, after)), p.Folder)...)
	}
	return out
}
