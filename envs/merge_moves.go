package envs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// moving is one rename from a stage into a tree: of a file, or of a folder that the tree does not have.
type moving struct {
	From string `json:"from"` // below the stage
	To   string `json:"to"`   // below the tree

	phase   int
	replace bool
}

// meeting is what a delivery finds in the tree that it goes to.
type meeting struct {
	kept     map[string]bool // the tree has it with the same content: it stays, and belongs to both
	replaced map[string]bool // the tree has it with other content, and nobody runs in it yet
	faults   []error
}

// meet compares a delivery with a tree. The staged copy of what is kept is removed. Other content is a fault unless replace allows it.
func (d *delivery) meet(tree string, replace bool, owner func(rel string) string) meeting {
	m := meeting{kept: map[string]bool{}, replaced: map[string]bool{}}
	for _, rel := range sortedKeys(d.files) {
		f := d.files[rel]
		reason, err := d.meetOne(f, filepath.Join(tree, rel), replace)
		switch {
		case err != nil:
			m.faults = append(m.faults, err)
		case reason == same:
			m.kept[rel] = true
		case reason == differs && replace:
			m.replaced[rel] = true
		case reason == differs:
			m.faults = append(m.faults, &MergeError{rel, clobbers(owner(rel))})
		case reason != "":
			m.faults = append(m.faults, &MergeError{rel, reason})
		}
	}
	return m
}

const (
	same    = "same"
	differs = "differs"
)

func clobbers(owner string) string {
	if owner == "" {
		return "the environment has such a file with other content"
	}
	return fmt.Sprintf("it is a file of %s with other content", owner)
}

func (d *delivery) meetOne(f *stagedFile, to string, replace bool) (reason string, err error) {
	there, err := os.Lstat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil: // a file stands where a folder should be
		return "it is in the place of a file", nil
	case !there.Mode().IsRegular():
		return "it is in the place of a folder", nil
	}
	from := filepath.Join(d.out, f.from)
	equal, err := sameContent(from, to, f.size, there.Size())
	if err != nil {
		return "", err
	}
	if !equal {
		return differs, nil
	}
	delete(d.files, f.rel)
	return same, os.Remove(from)
}

func sameContent(a, b string, sizeA, sizeB int64) (bool, error) {
	if sizeA != sizeB {
		return false, nil
	}
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	p, q := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		if n != m || !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		if errX != nil || errY != nil {
			return errX != nil && errY != nil, unexpected(errX)
		}
	}
}

func unexpected(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// moves lists the renames in the order of their phases. A folder whose files all move in one phase and that the tree does not have moves as a whole:
// whoever imports meanwhile finds none of it or all.
func (d *delivery) moves(tree string, replaced map[string]bool) []moving {
	folders := d.folders()
	var list []moving
	for _, rel := range sortedKeys(d.files) {
		f := d.files[rel]
		if top, ok := wholeFolder(folders, tree, rel); ok {
			if !folders[top].taken {
				folders[top].taken = true
				list = append(list, moving{From: folders[top].from, To: top, phase: f.phase})
			}
			continue
		}
		list = append(list, moving{From: f.from, To: rel, phase: f.phase, replace: replaced[rel]})
	}
	slices.SortStableFunc(list, func(a, b moving) int { return cmp.Compare(a.phase, b.phase) })
	return list
}

// stagedFolder is a folder of a stage, by what is in it.
type stagedFolder struct {
	from   string
	phase  int // of all its files; -1: they differ, or its name changes on the way
	absent *bool
	taken  bool
}

func (d *delivery) folders() map[string]*stagedFolder {
	all := map[string]*stagedFolder{}
	for rel, f := range d.files {
		from := filepath.Dir(f.from)
		for dir := filepath.Dir(rel); dir != "."; dir, from = filepath.Dir(dir), filepath.Dir(from) {
			g := all[dir]
			if g == nil {
				all[dir] = &stagedFolder{from: from, phase: f.phase}
			} else if g.phase != f.phase || g.from != from {
				g.phase = -1
			}
		}
	}
	return all
}

// wholeFolder returns the outermost folder of rel that can move as one.
func wholeFolder(folders map[string]*stagedFolder, tree, rel string) (top string, ok bool) {
	for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
		f := folders[dir]
		if f.phase < 0 {
			break
		}
		if f.absent == nil {
			_, err := os.Lstat(filepath.Join(tree, dir))
			absent := errors.Is(err, fs.ErrNotExist)
			f.absent = &absent
		}
		if !*f.absent {
			break
		}
		top, ok = dir, true
	}
	return top, ok
}
