package envs

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// VenvError is a virtual environment that could not be made, or is not what was asked for.
type VenvError struct {
	Interpreter string
	What        string
	Err         error // may be nil
}

func (e *VenvError) Error() string {
	s := fmt.Sprintf("virtual environment of %s: %s", e.Interpreter, e.What)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *VenvError) Unwrap() error { return e.Err }

// makeVenv makes one at the path of the current link. Without pip it needs no ensurepip, which distributions leave out.
func (s *Store) makeVenv(ctx context.Context, e *Environment) error {
	argv := []string{e.Interpreter.Path, "-I", "-S", "-m", "venv", "--without-pip"}
	if e.Mode == Inherit {
		argv = append(argv, "--system-site-packages")
	}
	if _, err := s.onHost(ctx, append(argv, e.Current())...); err != nil {
		return &VenvError{e.Interpreter.Path, "it could not be made", err}
	}
	return tameModes(e.Current())
}

// tameModes takes away what the umask of the day gave to group and others.
func tameModes(tree string) error {
	return filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		if want := tamed(fi.Mode()); want != fi.Mode().Perm() {
			return os.Chmod(p, want)
		}
		return nil
	})
}

// tamed is 0755 for folders and programs, 0644 for the rest.
func tamed(m fs.FileMode) fs.FileMode {
	if m.IsDir() || m&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

// checkVenv looks at the tree from outside. Its interpreter is not started: that would run whatever stands in its site-packages.
func checkVenv(e *Environment) error {
	bad := func(what string, err error) error { return &VenvError{e.Interpreter.Path, what, err} }
	python := e.python(e.Tree())
	if err := isExecutable(python); err != nil {
		return bad("its bin/python cannot be used", err)
	}
	c, ok, err := findPyvenv(python)
	if err != nil || !ok {
		return bad("it has no pyvenv.cfg", err)
	}
	if !sameFile(c["home"], filepath.Dir(e.Interpreter.Path)) {
		return bad(fmt.Sprintf("its home is %q, not %q", c["home"], filepath.Dir(e.Interpreter.Path)), nil)
	}
	if c.inherits() != (e.Mode == Inherit) {
		return bad("its pyvenv.cfg does not say "+e.Mode, nil)
	}
	site := e.site()
	if fi, err := os.Stat(site); err != nil || !fi.IsDir() {
		return bad("it has no site-packages at "+site, err)
	}
	return nil
}

// site is the folder that packages of the environment go to. Of the folders that a distribution has Python try, venv makes the first that lies
// below the tree's root.
func (e *Environment) site() string {
	for _, s := range e.Interpreter.envSites(e.Tree()) {
		if filepath.Clean(s) != e.Tree() {
			return s
		}
	}
	return e.Tree()
}

// python is the environment's interpreter when its tree stands at root.
func (e *Environment) python(root string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(root, "Scripts", "python.exe")
	}
	return filepath.Join(root, "bin", "python")
}
