package launcher

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Over is the state of a kernel that has ended.
const Over State = "ended"

// Ended is what is kept about a kernel that has ended, in $STATE/ended/<id>.json.
type Ended struct {
	Record
	Ended  time.Time         `json:"ended"`
	Reason Reason            `json:"reason"`
	Code   int               `json:"code"`
	Signal int               `json:"signal"`
	Limit  *sandbox.LimitHit `json:"limit,omitempty"`
	Text   string            `json:"text"`             // the reason as a sentence
	Notes  []string          `json:"notes"`            // see Exit.Notes
	Output string            `json:"output,omitempty"` // the end of what it wrote to its standard error
}

// keptEnded is how many are kept.
const keptEnded = 50

func endedDir(d dirs.Dirs) string { return filepath.Join(d.State, "ended") }

func endedOf(r Record, e Exit) Ended {
	r.State = Over
	return Ended{Record: r, Ended: time.Now().UTC(), Reason: e.Reason, Code: e.Code, Signal: e.Signal, Limit: e.Limit, Text: e.String(), Notes: some(e.Notes), Output: e.Output}
}

// keep writes it down. Whoever loses it loses an explanation, so a failure is not the kernel's.
func (e Ended) keep(d dirs.Dirs) {
	dir := endedDir(d)
	b, err := json.Marshal(e)
	if err != nil || dirs.MakePrivate(dir) != nil {
		return
	}
	if dirs.WriteVolatile(filepath.Join(dir, e.ID+".json"), b, 0o600) == nil {
		prune(dir, keptEnded)
	}
}

// prune removes the oldest files of a folder but for some.
func prune(dir string, keep int) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= keep {
		return
	}
	modified := func(e fs.DirEntry) time.Time {
		if info, err := e.Info(); err == nil {
			return info.ModTime()
		}
		return time.Time{}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return modified(a).Compare(modified(b)) })
	for _, e := range entries[:len(entries)-keep] {
		os.Remove(filepath.Join(dir, e.Name()))
	}
}

// EndedKernels lists the kernels of a user that ended last, oldest first.
func EndedKernels(d dirs.Dirs) ([]Ended, error) {
	entries, err := os.ReadDir(endedDir(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Ended
	for _, f := range entries {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		b, err := os.ReadFile(filepath.Join(endedDir(d), f.Name()))
		var e Ended
		if ok && err == nil && json.Unmarshal(b, &e) == nil && e.ID == id {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Ended) int { return a.Ended.Compare(b.Ended) })
	return all, nil
}
