package envs

import (
	"fmt"
	"os"
	"path/filepath"
)

// Check says whether a kernel could be started: nil, or a *BrokenError that names what is gone.
func (e *Environment) Check() error {
	broken := func(path, format string, args ...any) error {
		return &BrokenError{Name: e.Name, What: fmt.Sprintf(format, args...), Path: path}
	}
	if fi, err := os.Stat(e.Tree()); err != nil || !fi.IsDir() {
		return broken(e.Tree(), "its tree %s is gone", e.Tree())
	}
	if at, err := filepath.EvalSymlinks(e.Current()); err != nil || !sameFile(at, e.Tree()) {
		return broken(e.Current(), "%s does not lead to its tree %s", e.Current(), e.Tree())
	}
	if err := isExecutable(e.Interpreter.Path); err != nil {
		return broken(e.Interpreter.Path, "its interpreter %s %s is gone", e.Interpreter.Path, e.Interpreter.Version)
	}
	if e.Language != Python {
		return nil
	}
	if err := isExecutable(e.python(e.Current())); err != nil {
		return broken(e.python(e.Current()), "%s cannot be started", e.python(e.Current()))
	}
	if fi, err := os.Stat(e.site()); err != nil || !fi.IsDir() {
		return broken(e.site(), "its site-packages %s is gone", e.site())
	}
	return nil
}
