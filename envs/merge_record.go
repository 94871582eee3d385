package envs

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// delivered is a distribution in a stage.
type delivered struct {
	name, version string
	info          string // folder of its description, below the tree
	files         []*stagedFile
}

// faultsMost is how many sentences an error has; the rest is counted.
const faultsMost = 20

// inspect says what a stage would bring into e, dependencies first, or every reason why it may not. want is the exact set of distributions, in the
// order in which they are to appear; nil: whatever there is.
func inspect(e *Environment, out string, frame []framePart, want []Owned) (*delivery, error) {
	d, faults := walkStage(e, out, frame)
	for i, info := range d.infos {
		dist, errs := d.readDist(e, info, i)
		d.dists = append(d.dists, dist)
		faults = append(faults, errs...)
	}
	faults = append(faults, d.unnamed()...)
	if want != nil {
		faults = append(faults, d.match(want)...)
	}
	if len(faults) == 0 {
		d.setPhases(e)
	}
	return d, joinFaults(faults)
}

func joinFaults(faults []error) error {
	if len(faults) > faultsMost {
		faults = append(slices.Clip(faults[:faultsMost]), fmt.Errorf("and %d more", len(faults)-faultsMost))
	}
	return errors.Join(faults...)
}

// readDist reads one description and compares its RECORD with the files.
func (d *delivery) readDist(e *Environment, info string, index int) (delivered, []error) {
	at := d.at[info]
	site := described{folder: folder{path: filepath.Join(d.out, filepath.Dir(at))}, file: filepath.Base(info), isDir: true}
	p := site.read()
	dist := delivered{name: p.Name, version: p.Version, info: info}
	if p.Broken != "" {
		return dist, []error{&MergeError{info, p.Broken}}
	}
	if stem, _ := stemName(filepath.Base(info)); normalName(stem) != p.Name {
		return dist, []error{&MergeError{info, fmt.Sprintf("it describes %q", p.Name)}}
	}
	lines := readRecord(filepath.Join(d.out, at, "RECORD"))
	if lines == nil {
		return dist, []error{&MergeError{filepath.Join(info, "RECORD"), "it cannot be read"}}
	}
	return dist, d.checkLines(e, &dist, lines)
}

func (d *delivery) checkLines(e *Environment, dist *delivered, lines []recordLine) []error {
	faults := make([]error, len(lines))
	files := make([]*stagedFile, len(lines))
	var wg sync.WaitGroup
	for w := range readers {
		wg.Go(func() {
			for i := w; i < len(lines); i += readers {
				files[i], faults[i] = d.checkLine(e, dist.info, lines[i])
			}
		})
	}
	wg.Wait()
	for _, f := range files {
		if f != nil {
			f.named = true
			dist.files = append(dist.files, f)
		}
	}
	return slices.DeleteFunc(faults, func(err error) bool { return err == nil })
}

// checkLine returns the file that a line names; nil for bytecode, which is not there any more.
func (d *delivery) checkLine(e *Environment, info string, l recordLine) (*stagedFile, error) {
	bad := func(reason string) (*stagedFile, error) {
		return nil, &MergeError{filepath.Join(info, "RECORD"), fmt.Sprintf("its line for %q %s", value(l.path), reason)}
	}
	rel := filepath.Join(filepath.Dir(info), filepath.FromSlash(l.path))
	if path.IsAbs(l.path) || filepath.IsAbs(l.path) || !filepath.IsLocal(rel) {
		return bad("leads outside of the environment")
	}
	rel = withoutLib64(e, rel)
	f := d.files[rel]
	switch {
	case f == nil && (isBytecode(l.path) || below(rel, d.refused)):
		return nil, nil
	case f == nil:
		return bad("has no file")
	case l.size() != "" && l.size() != strconv.FormatInt(f.size, 10):
		return bad(fmt.Sprintf("says %s bytes, and it has %d", value(l.size()), f.size))
	case l.sum() == "":
		return f, nil
	}
	algorithm, want, _ := strings.Cut(l.sum(), "=")
	got, err := hashFile(filepath.Join(d.out, f.from), algorithm)
	if err != nil {
		return bad("cannot be compared: " + err.Error())
	}
	if got != strings.TrimRight(want, "=") {
		return bad("has another hash than the file")
	}
	return f, nil
}

func hashFile(file, algorithm string) (string, error) {
	var h hash.Hash
	switch algorithm {
	case "sha256":
		h = sha256.New()
	case "sha384":
		h = sha512.New384()
	case "sha512":
		h = sha512.New()
	default:
		return "", fmt.Errorf("hash algorithm %q", value(algorithm))
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)), nil
}

// unnamed are files that no RECORD vouches for: what nobody owns, nobody could remove.
func (d *delivery) unnamed() (faults []error) {
	for _, rel := range sortedKeys(d.files) {
		f := d.files[rel]
		if f.named {
			continue
		}
		if info := filepath.Dir(rel); slices.Contains(d.infos, info) && installerMade(filepath.Base(rel)) {
			continue
		}
		faults = append(faults, &MergeError{rel, "no RECORD names it"})
	}
	return faults
}

// match puts the distributions into the order that is wanted and names what is missing, too much or of another version.
func (d *delivery) match(want []Owned) (faults []error) {
	var sorted []delivered
	left := d.dists
	for _, w := range want {
		i := slices.IndexFunc(left, func(x delivered) bool { return x.name == normalName(w.Name) })
		if i < 0 {
			faults = append(faults, &MergeError{w.Name, fmt.Sprintf("the plan has version %s of it, and it was not staged", value(w.Version))})
			continue
		}
		if !equalVersions(left[i].version, w.Version) {
			faults = append(faults, &MergeError{left[i].info, fmt.Sprintf("the plan has version %s of it", value(w.Version))})
		}
		sorted = append(sorted, left[i])
		left = slices.Concat(left[:i], left[i+1:])
	}
	for _, x := range left {
		faults = append(faults, &MergeError{x.info, fmt.Sprintf("%s %s is not in the plan", x.name, x.version)})
	}
	d.dists = append(sorted, left...)
	return faults
}

// setPhases says when each file moves: data and programs first, then for each distribution its description and then its modules. A module that reads
// its own version at import finds it, and finds all that it imports.
func (d *delivery) setPhases(e *Environment) {
	describes := map[string]int{}
	for i, dist := range d.dists {
		describes[dist.info] = 2*i + 1
		for _, f := range dist.files {
			if f.phase == 0 && isModuleFile(e, f.rel) {
				f.phase = 2*i + 2
			}
		}
	}
	for rel, f := range d.files {
		for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
			if phase, ok := describes[dir]; ok {
				f.phase = phase
			}
		}
	}
}

func isModuleFile(e *Environment, rel string) bool {
	for _, s := range e.Interpreter.envSites(e.Tree()) {
		if below(filepath.Join(e.Tree(), rel), []string{s}) {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
