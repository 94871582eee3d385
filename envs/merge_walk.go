package envs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// stagedFile is one regular file that an installer left.
type stagedFile struct {
	from  string // below the stage
	rel   string // where it goes, below the tree
	mode  fs.FileMode
	size  int64
	phase int // when it moves; see phases
	named bool
}

// delivery is what stands in a stage, looked at but not believed.
type delivery struct {
	out   string
	files map[string]*stagedFile // by rel
	infos []string               // folders of descriptions, by rel
	at    map[string]string      // where these stand in the stage
	dists []delivered

	refused []string // by rel: they have had their sentence
}

// walkStage lists the files and names every one that may not stand there. Folders and files get the modes that a tree has. What only an installer
// left for itself, and bytecode, is removed: bytecode could say something else than the source beside it.
func walkStage(e *Environment, out string, frame []framePart) (*delivery, []error) {
	d := &delivery{out: out, files: map[string]*stagedFile{}, at: map[string]string{}}
	var faults []error
	err := filepath.WalkDir(out, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || p == out {
			return err
		}
		rel, err := filepath.Rel(out, p)
		if err != nil {
			return err
		}
		if part, ok := partAt(frame, rel); ok {
			return part.still(out, &faults)
		}
		fi, err := entry.Info()
		if err != nil {
			return err
		}
		reason, err := d.take(e, rel, fi)
		if reason != "" {
			faults = append(faults, &MergeError{rel, reason})
			d.refused = append(d.refused, withoutLib64(e, rel))
		}
		if reason != "" && fi.IsDir() {
			return errors.Join(err, fs.SkipDir) // one sentence for all that is in it
		}
		return err
	})
	if err != nil {
		faults = append(faults, err)
	}
	for _, part := range frame {
		if _, err := os.Lstat(filepath.Join(out, part.rel)); err != nil {
			faults = append(faults, &MergeError{part.rel, "it is a part of the environment itself and was removed"})
		}
	}
	return d, faults
}

// leftByInstaller are files at the top of a tree that belong to no package.
var leftByInstaller = map[string]bool{".lock": true, "CACHEDIR.TAG": true, ".gitignore": true}

func (d *delivery) take(e *Environment, rel string, fi fs.FileInfo) (reason string, err error) {
	from := filepath.Join(d.out, rel)
	if fi.Mode().IsRegular() && leftByInstaller[rel] {
		return "", os.Remove(from)
	}
	to, reason := destination(e, rel, fi.Mode())
	if reason != "" {
		return reason, nil
	}
	if fi.IsDir() {
		if fi.Mode().Perm() != 0o755 {
			err = os.Chmod(from, 0o755)
		}
		if strings.HasSuffix(to, ".dist-info") && isSite(e, filepath.Dir(to)) {
			d.infos = append(d.infos, relTo(e, to))
			d.at[relTo(e, to)] = rel
		}
		return "", err
	}
	if droppedBytecode(from) {
		return "", os.Remove(from)
	}
	if want := tamed(fi.Mode()); want != fi.Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) {
		err = os.Chmod(from, want)
	}
	r := relTo(e, to)
	d.files[r] = &stagedFile{from: rel, rel: r, mode: tamed(fi.Mode()), size: fi.Size()}
	return "", err
}

func relTo(e *Environment, to string) string {
	return strings.TrimPrefix(to, e.Tree()+string(filepath.Separator))
}

func isSite(e *Environment, dir string) bool {
	for _, s := range e.Interpreter.envSites(e.Tree()) {
		if filepath.Clean(s) == dir {
			return true
		}
	}
	return false
}

// droppedBytecode: a .pyc that has no source beside it is the module itself and stays.
func droppedBytecode(file string) bool {
	if !isBytecode(file) {
		return false
	}
	if filepath.Base(filepath.Dir(file)) == "__pycache__" {
		return true
	}
	_, err := os.Lstat(file[:len(file)-1])
	return err == nil
}

// framePart is a file or link that makes a folder an environment. A package may neither change nor remove it.
type framePart struct {
	rel  string
	link string // the target of a link; empty: a file with data
	data []byte
}

func partAt(frame []framePart, rel string) (framePart, bool) {
	for _, p := range frame {
		if p.rel == rel {
			return p, true
		}
	}
	return framePart{}, false
}

func (p framePart) still(out string, faults *[]error) error {
	const changed = "it is a part of the environment itself and was changed"
	at := filepath.Join(out, p.rel)
	fi, err := os.Lstat(at)
	if err != nil {
		return err
	}
	same := false
	if p.link != "" {
		target, err := os.Readlink(at)
		same = err == nil && target == p.link
	} else if fi.Mode().IsRegular() && fi.Size() == int64(len(p.data)) {
		data, err := os.ReadFile(at)
		same = err == nil && bytes.Equal(data, p.data)
	}
	if !same {
		*faults = append(*faults, &MergeError{p.rel, changed})
	}
	if fi.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// makeFrame makes out look like an environment with nothing in it, so that an installer takes it for e's tree. It inherits nothing: what is to be
// installed was decided before.
func makeFrame(e *Environment, out string) ([]framePart, error) {
	if err := os.MkdirAll(filepath.Join(out, relTo(e, e.site())), 0o755); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(out, scripts()), 0o755); err != nil {
		return nil, err
	}
	config, err := os.ReadFile(filepath.Join(e.Tree(), "pyvenv.cfg"))
	if err != nil {
		return nil, err
	}
	frame := []framePart{{rel: "pyvenv.cfg", data: isolatedConfig(config)}}
	links, err := frameLinks(e)
	if err != nil {
		return nil, err
	}
	frame = append(frame, links...)
	for _, p := range frame {
		at := filepath.Join(out, p.rel)
		if p.link != "" {
			err = os.Symlink(p.link, at)
		} else {
			err = os.WriteFile(at, p.data, 0o644)
		}
		if err != nil {
			return nil, fmt.Errorf("the stage of %s: %w", e.Name, err)
		}
	}
	return frame, nil
}

// frameLinks are the interpreter's names in bin, and lib64 where the tree has one.
func frameLinks(e *Environment) (links []framePart, err error) {
	bin, err := os.ReadDir(filepath.Join(e.Tree(), scripts()))
	if err != nil {
		return nil, err
	}
	names := []string{"lib64"}
	for _, f := range bin {
		if skeleton.MatchString(f.Name()) {
			names = append(names, filepath.Join(scripts(), f.Name()))
		}
	}
	for _, rel := range names {
		if target, err := os.Readlink(filepath.Join(e.Tree(), rel)); err == nil {
			links = append(links, framePart{rel: rel, link: target})
		}
	}
	return links, nil
}

func isolatedConfig(config []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.SplitSeq(config, []byte("\n")) {
		k, _, _ := bytes.Cut(line, []byte("="))
		if len(bytes.TrimSpace(line)) > 0 && !bytes.EqualFold(bytes.TrimSpace(k), []byte("include-system-site-packages")) {
			b.Write(append(bytes.TrimRight(line, "\r"), '\n'))
		}
	}
	b.WriteString("include-system-site-packages = false\n")
	return b.Bytes()
}
