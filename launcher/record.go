package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Record is what stands on disk about one running kernel: <id>.json. The lock beside it, held by the launcher, says that it lives.
type Record struct {
	Schema         int             `json:"schema"`
	ID             string          `json:"id"`
	Environment    string          `json:"environment"`
	Language       string          `json:"language"`
	Generation     int             `json:"generation"`
	PID            int             `json:"pid"`   // the launcher, which is what the client started
	Start          string          `json:"start"` // tells that process from a later one with its number: boot id and start time in clock ticks
	State          State           `json:"state"`
	Started        time.Time       `json:"started"`
	Network        sandbox.Network `json:"network"`
	Links          string          `json:"links"` // deny or allow: whether programs can make links in the folder
	Folder         string          `json:"folder"`
	ConnectionFile string          `json:"connection_file,omitempty"`
	Forward        []OpenPort      `json:"forward"`
	Publish        []OpenPort      `json:"publish"`

	dir string
}

func (r Record) path(ext string) string { return filepath.Join(r.dir, r.ID+ext) }

// record is a Record that this process owns.
type record struct {
	Record
	lock    *flock.Flock
	control *control
	ports   *ports

	mu   sync.Mutex
	gone bool // a restart that ends late must not write it again
}

// register writes the record of a kernel that has claimed its id and just started, and opens its control socket.
func register(k *Kernel) (r *record, err error) {
	r = k.claimed
	r.ports = k.ports
	if r.control, err = serveControl(r.path(".sock"), k); err != nil {
		r.remove()
		return nil, err
	}
	r.update(k.State(), k.plan)
	return r, nil
}

// claim picks an id that no other kernel has. The lock is taken before anything else of it exists: a sweep must never take a kernel for a dead one.
func (r *record) claim() error {
	for range 10 {
		r.ID = newID()
		if _, err := os.Lstat(r.path(".lock")); err == nil {
			continue
		}
		r.lock = flock.New(r.path(".lock"), flock.SetPermissions(0o600))
		ok, err := r.lock.TryLock()
		if err != nil {
			return fmt.Errorf("lock %s: %w", r.path(".lock"), err)
		}
		if !ok {
			continue
		}
		if _, err := os.Lstat(r.path(".lock")); err == nil { // else a sweep took the unlocked file for a dead kernel's
			return nil
		}
		r.lock.Unlock()
	}
	return errors.New("no free id for the kernel's record")
}

// update writes the record whole. It says nothing that a crash may not lose, so it is not forced to the disk.
func (r *record) update(s State, p *Plan) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return
	}
	e := p.Environment
	r.State, r.Environment, r.Language, r.Generation = s, e.Name, e.Language, e.Generation
	r.Network, r.Folder, r.ConnectionFile = p.Sandbox.Network, p.Folder, p.spec.ConnectionFile
	if r.Links = "allow"; p.Sandbox.Landlock != nil && p.Sandbox.Landlock.RefuseLinks {
		r.Links = "deny"
	}
	r.Forward, r.Publish = kept(r.ports.list(Forwarded)), kept(r.ports.list(Published))
	if b, err := json.Marshal(r.Record); err == nil {
		dirs.WriteVolatile(r.path(".json"), b, 0o600)
	}
}

// kept leaves out what is old as soon as it is written.
func kept(all []OpenPort) []OpenPort {
	for i := range all {
		all[i].Connections = nil
	}
	return all
}

// present is a copy of what was last written.
func (r *record) present() Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Record
}

func (r *record) remove() {
	if r.control != nil {
		r.control.close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone { // its id may be another kernel's by now
		return
	}
	r.gone = true
	erase(r.Record)
	r.lock.Unlock()
}

func erase(r Record) {
	for _, ext := range []string{".json", ".sock", ".lock"} {
		os.Remove(r.path(ext))
	}
}

// Kernels lists the running kernels of a user, oldest first, and removes what dead ones left.
func Kernels(d dirs.Dirs) ([]Record, error) {
	var all []Record
	var faults []error
	for _, dir := range d.RunCandidates() {
		names, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
		for _, n := range names {
			id, ok := strings.CutSuffix(n.Name(), ".lock")
			if !ok {
				continue
			}
			if r, alive := read(d, dir, id); alive {
				all = append(all, r)
			}
		}
	}
	sortRecords(all)
	return all, errors.Join(faults...)
}

// read reports whether the kernel lives: somebody holds its lock. A process id alone proves nothing.
func read(d dirs.Dirs, dir, id string) (Record, bool) {
	r := Record{ID: id, dir: dir}
	l := flock.New(r.path(".lock"), flock.SetFlag(os.O_RDWR))
	ok, err := l.TryLock()
	if err != nil {
		return r, false
	}
	b, err := os.ReadFile(r.path(".json"))
	whole := err == nil && json.Unmarshal(b, &r) == nil && r.ID == id // else it has its lock and not yet its record
	r.ID, r.dir = id, dir
	if !ok {
		return r, whole
	}
	if whole {
		endedOf(r, Exit{Reason: ReasonLost}).keep(d)
	}
	erase(r)
	l.Unlock()
	return r, false
}

// sweep removes what launchers left that were killed.
func sweep(d dirs.Dirs) { Kernels(d) }
