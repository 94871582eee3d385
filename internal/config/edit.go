package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// Scope says for whom a change of the user's file holds. The zero value is the folder of Sources.
type Scope struct {
	Env        string // for one environment, in every folder
	Everywhere bool
}

// Change is one change of the user's file: Allow, Deny, Set or Unset.
type Change struct {
	scope Scope
	apply func(*draft) error
	check func(*Edited) error // nil: whatever can be read holds
}

// Edited is the user's file with a change made, written or not yet.
type Edited struct {
	File    string   // its path
	Place   string   // the folder as it is written in the file, the environment, or empty for everywhere
	Changed bool     // false: the file said so already
	Closed  []string // folders and the like whose own allow keeps a rule for everywhere out
	Before  *Config
	After   *Config // what holds in the scope once the change is written
	text    []byte
	before  []byte // the text that it was made of; nil when there was no file
}

// EditError is a change that was not made. The file is as it was.
type EditError struct {
	File    string
	Problem string
	Err     error // what the checks said; may be nil
	ByHand  bool  // the change is fine, and only its writing cannot be done
}

func (e *EditError) Error() string {
	s := fmt.Sprintf("%s is left as it was: %s", filepath.Base(e.File), e.Problem)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *EditError) Unwrap() error { return e.Err }

// Preview makes a change without writing it. A file that cannot be read is returned as Load would: there is nothing to build on. A change that
// cannot be made, or that would leave a file that cannot be read, is an *EditError; one that the machine or another line takes back is a
// *ClippedError or a *DeniedError.
func Preview(s Sources, c Change) (*Edited, error) {
	s = c.scope.sources(s)
	d, err := newDraft(s)
	if err != nil {
		return nil, err
	}
	out := &Edited{File: s.User, before: d.before}
	if out.Before, err = loadOver(s, d.user, nil); err != nil {
		return nil, err
	}
	if d.path, out.Place, err = c.scope.path(d); err != nil {
		return nil, &EditError{File: s.User, Problem: err.Error()}
	}
	if err := c.apply(d); err != nil {
		return nil, &EditError{File: s.User, Problem: err.Error()}
	}
	if c.scope.Everywhere {
		out.Closed = d.closed()
	}
	out.After = out.Before
	if d.changed {
		if err := out.take(s, d); err != nil {
			return nil, err
		}
	}
	if c.check != nil {
		return out, c.check(out)
	}
	return out, nil
}

// take reads the changed text back as strictly as any other.
func (e *Edited) take(s Sources, d *draft) (err error) {
	if e.text, err = d.render(); err != nil {
		return &EditError{File: s.User, Problem: err.Error(), ByHand: true}
	}
	user, faults := read(s.User, e.text, d.paths)
	if len(faults) > 0 {
		return &EditError{File: s.User, Problem: "the change cannot be used", Err: changed(faults)}
	}
	if e.After, err = loadOver(s, user, nil); err != nil {
		return &EditError{File: s.User, Problem: "the change cannot be used", Err: err}
	}
	e.Changed = true
	return nil
}

// changed are faults of a text that nobody has seen: a line of it says nothing.
func changed(faults Faults) error {
	var all []string
	for _, f := range faults {
		all = append(all, bare(f.Key)+": "+f.Problem)
	}
	return errors.New(strings.Join(all, "; "))
}

// sources are those that show the effect of a change: what holds everywhere is not seen through a folder.
func (sc Scope) sources(s Sources) Sources {
	s.Profile = ""
	switch {
	case sc.Everywhere:
		s.Folder, s.Env = "", ""
	case sc.Env != "":
		s.Folder, s.Env = "", sc.Env
	}
	return s
}

// draft is the user's file on its way to be changed.
type draft struct {
	sources Sources
	paths   paths
	before  []byte
	doc     *yaml.Node
	user    *document // before; nil when there was no file
	machine *document
	path    []string // to the mapping of the scope
	changed bool
	gone    []string // comments of what was taken out
}

func newDraft(s Sources) (*draft, error) {
	d := &draft{sources: s, paths: paths{home: s.Home}}
	var err error
	if d.machine, err = loadFile(s.Machine, d.paths); err != nil {
		return nil, err
	}
	d.before, err = readTrusted(s.User, self())
	if errors.Is(err, fs.ErrNotExist) {
		d.doc = emptyDocument()
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	user, faults := read(s.User, d.before, d.paths)
	if len(faults) > 0 {
		return nil, faults.err()
	}
	d.user = user
	d.doc, err = decode(d.before)
	return d, err
}

func emptyDocument() *yaml.Node {
	return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map"}}}
}

// decode is for text that has been read already; one that holds nothing gives an empty mapping.
func decode(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return emptyDocument(), nil
	}
	return &doc, nil
}

func (d *draft) root() *yaml.Node { return d.doc.Content[0] }
