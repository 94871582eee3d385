package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Facts are what was observed on this machine for one policy. Compile uses nothing else, so they can be written down by hand.
type Facts struct {
	Goos        string            `json:"goos"`
	UID, GID    int               // the effective ones: bubblewrap keeps them inside
	User, Group string            // their names, or "user" and "group"
	Hostname    string            // for /etc/hosts inside
	Homes       []string          // resolved home folders of the user: of HOME, of the policy, of the user database
	Search      []string          // the absolute folders on PATH, as far as they exist resolved
	Runtime     string            // the user's runtime folder, where session sockets live
	Bubblewrap  string            // the program's path, resolved; empty when it was not found
	Arch        string            // the processor's, as Go names it
	Landlock    int               // the version of the kernel's Landlock interface; 0 when there is none
	Project     string            // the resolved root of the project around the policy's folder; empty when there is none
	Secrets     []string          // what may hold passwords, in the top level of the project and of the folders between
	Paths       map[string]Entry  // every path that the policy or the system list names
	Known       map[string]string // on Windows, folders that the system names by variables: LOCALAPPDATA, SYSTEMROOT, TEMP
	Control     *Control          // what could hold limits; nil when the policy sets none
}

// EntryKind says what a path leads to, links followed.
type EntryKind string

// The kinds of entries.
const (
	EntryMissing EntryKind = "missing"
	EntryFolder  EntryKind = "folder"
	EntryFile    EntryKind = "file"
	EntrySocket  EntryKind = "socket"
	EntryDevice  EntryKind = "device"
	EntryOther   EntryKind = "other"
)

// Entry is what stands at one path.
type Entry struct {
	Kind     EntryKind
	Resolved string   // without symbolic links; when it is missing, as far as its parents exist
	Link     string   // the text of the link when the path itself is one
	Sockets  []string // names of sockets in the folder's top level
	Linked   []string // names of files there that have another name elsewhere
	Outward  []string // names of links there that lead out of the folder
	Fault    string   // why it could not be looked at; empty when it could
}

func (e Entry) exists() bool { return e.Kind != "" && e.Kind != EntryMissing }

// Observe looks at everything that Compile needs to know for p. It reads names and kinds, never a file's content,
// and a path that is missing is a fact, not an error.
func Observe(p Policy) (Facts, error) { return survey().observe(p) }

// surveyed is what no policy changes, and the look that saw it.
type surveyed struct {
	look  look
	facts Facts
	err   error
}

func survey() surveyed {
	f := Facts{Goos: runtime.GOOS, Arch: runtime.GOARCH, Landlock: landlockABI(), UID: os.Geteuid(), GID: os.Getegid(), User: "user", Group: "group", Paths: make(map[string]Entry, 192)}
	if u, err := user.LookupId(strconv.Itoa(f.UID)); err == nil {
		f.User = plainName(u.Username, f.User)
		f.Homes = append(f.Homes, u.HomeDir)
	}
	if g, err := user.LookupGroupId(strconv.Itoa(f.GID)); err == nil {
		f.Group = plainName(g.Name, f.Group)
	}
	f.Known = knownFolders(f.Goos, os.Getenv)
	name, err := os.Hostname()
	f.Hostname = plainName(name, "localhost")
	l := newLook()
	f.Search = l.resolveAll(filepath.SplitList(os.Getenv("PATH")))
	if r := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(r) {
		f.Runtime = l.resolve(r)
	}
	l.system(&f)
	return surveyed{l, f, err}
}

// observe adds what p is about. It is for one policy: what it has seen grows old.
func (m surveyed) observe(p Policy) (Facts, error) {
	if m.err != nil {
		return m.facts, m.err
	}
	l, f := m.look, m.facts
	f.Homes = l.resolveAll(append(f.Homes, os.Getenv("HOME"), p.RealHome))
	l.paths(p, &f)
	l.more(p, &f)
	if p.Limits.bounded() {
		f.Control = observeControl()
	}
	f.Bubblewrap = findBubblewrap(bubblewrapPlaces, os.Getenv("PATH"), writableRoots(p, f))
	return f, nil
}

// policyPaths are all paths of the host that a policy names, and the parents of its targets.
func policyPaths(p Policy) []string {
	out := []string{p.Folder, p.RealHome, p.KeptHome, p.Helper}
	for _, list := range [][]string{p.Read, p.Write, p.Hide, p.Islands, p.Prefixes, p.Own} {
		out = append(out, list...)
	}
	for _, t := range append(append([]Tree{}, p.Writable...), p.Trees...) {
		out = append(out, t.Source, filepath.Dir(filepath.Clean(t.Target)))
	}
	return out
}

func kindOf(m fs.FileMode) EntryKind {
	switch {
	case m.IsDir():
		return EntryFolder
	case m.IsRegular():
		return EntryFile
	case m&fs.ModeSocket != 0:
		return EntrySocket
	case m&fs.ModeDevice != 0:
		return EntryDevice
	}
	return EntryOther
}

// resolve follows every link of path; what does not exist is kept as it is written, below its deepest real parent.
func resolve(path string) string {
	path = filepath.Clean(path)
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolve(parent), filepath.Base(path))
}

// plainName keeps a name only when it is safe as one field of a passwd or hosts line.
func plainName(name, fallback string) string {
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r == ':' || r == '#' || r == ',' || r > '~'
	}) {
		return fallback
	}
	return name
}

// reason is the bare cause of a file error: the path stands beside it already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
