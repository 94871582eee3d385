package envs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// place is where an environment stands, whatever its manifest says.
type place struct{ language, name, dir string }

// places lists the folders of environments, finished or not, sorted by name.
func (s *Store) places() ([]place, error) {
	var all []place
	for _, l := range Languages() {
		entries, err := os.ReadDir(filepath.Join(s.Root, l))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() && CheckName(e.Name()) == nil {
				all = append(all, place{l, e.Name(), s.dir(l, e.Name())})
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all, nil
}

// finished says whether create came to its end here: the manifest is written last.
func (p place) finished() bool {
	_, err := os.Lstat(filepath.Join(p.dir, manifestName))
	return err == nil
}

// find returns the finished environment that name means: the exact one, else the one that differs in case only.
func (s *Store) find(name string) (place, error) {
	if err := CheckName(name); err != nil {
		return place{}, err
	}
	all, err := s.places()
	if err != nil {
		return place{}, err
	}
	var folded *place
	for i, p := range all {
		switch {
		case !p.finished():
		case p.name == name:
			return p, nil
		case strings.EqualFold(p.name, name):
			folded = &all[i]
		}
	}
	if folded != nil {
		return *folded, nil
	}
	return place{}, &NotFoundError{name}
}

// Get returns the environment of that name, compared without case: a *NameError, *NotFoundError or *BrokenError otherwise. A change that was cut off
// is finished first.
func (s *Store) Get(name string) (*Environment, error) {
	p, err := s.find(name)
	if err != nil {
		return nil, err
	}
	if err := settleNow(p.name, p.dir); err != nil {
		return nil, err
	}
	e, err := readManifest(p.dir, p.name, p.language)
	if errors.Is(err, fs.ErrNotExist) { // removed since
		return nil, &NotFoundError{name}
	}
	return e, err
}

// Take is Get and Hold in one: between the two calls the environment could move on to another generation and free the one that was got.
func (s *Store) Take(name string) (e *Environment, release func() error, err error) {
	for range takeTries {
		if e, err = s.Get(name); err != nil {
			return nil, nil, err
		}
		release, err = e.Hold()
		var gone *NotFoundError
		if !errors.As(err, &gone) {
			return e, release, err
		}
	}
	return nil, nil, err
}

const takeTries = 10

// List returns the environments sorted by name, and an error for each that cannot be read. One never hides another.
func (s *Store) List() ([]*Environment, []error) {
	all, err := s.places()
	if err != nil {
		return nil, []error{err}
	}
	var list []*Environment
	var errs []error
	for _, p := range all {
		e, err := readManifest(p.dir, p.name, p.language)
		switch {
		case err == nil:
			list = append(list, e)
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		}
	}
	return list, errs
}
